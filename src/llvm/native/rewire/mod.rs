//! Rewires a module's symbols to names that mean the same in every process ([`super::symbol`]).
//!
//! Variables become declarations; constants keep their value for folding. A function's address,
//! wherever it is taken, becomes a symbol of its own that refers to its stub, so that pointers
//! compare equal in every tier; direct calls stay direct. `thread_local` variables become offsets
//! from a block that is fetched once per function. Functions that must stay interpreted become
//! declarations whose calls go to their stubs. No address appears in the code.
//!
//! Calls between functions of the program have one form in all tiers ([`convention`]).
//!
//! Results must not depend on the tier that computes them. So `llvm.fmuladd` becomes a
//! multiplication and an addition, as on the guest's own target, and nothing is contracted beyond
//! what [`contract`](crate::contract) made `llvm.fma` for every tier.
//!
//! [`choose`] finds the functions that stay interpreted, [`symbols`] names functions and variables,
//! and [`body`] rewrites what uses them.
//!
//! This module does not optimize.

mod assembly;
mod body;
mod choose;
mod control;
mod symbols;
mod thread_block;

use super::fast_paths::{self, FastPaths};
use super::osr_landing;
use super::symbol::Symbol;
use super::target_attributes;
use super::{CompileRequest, FunctionBinding, Level};
use crate::handles::{Context, Function, Module, Type, Value, Variable};
use crate::reader::is_bookkeeping;
use crate::shim::{copy_abi_attributes, materialize_thread_locals};
use hashbrown::HashMap;
use ompvm_ir::convention;
use ompvm_support::log;
use symbols::in_no_place;

/// A module that is ready for the code generator.
pub(crate) struct Rewired {
    /// Number and symbol of each compiled function.
    pub compiled: Vec<(usize, String)>,
    /// Index in the unit and symbol of each OSR entry.
    pub entries: Vec<(usize, String)>,
    /// Number of each function that is not compiled, with the reason.
    pub skipped: Vec<(usize, String)>,
    /// True if there are landing pads: their tables need full addresses, which only
    /// position-independent code has.
    pub position_independent: bool,
    /// True if there are calls for the always-inline pass.
    pub inline: bool,
    /// True if the compiler that made the vectors knew of wide registers.
    pub wide: bool,
}

/// An OSR entry, a function that the module did not have.
pub(crate) struct OsrFunction<'m> {
    /// Index in the unit.
    pub index: usize,
    /// Number of the function that contains the loop.
    pub function: usize,
    /// The entry's symbol.
    pub name: String,
    /// The entry's function.
    pub value: Function<'m>,
}

/// The symbols of the program that a module has, with their numbers.
#[derive(Default)]
pub(crate) struct Symbols<'m> {
    pub functions: Vec<(usize, Function<'m>)>,
    /// Variables without LLVM's own bookkeeping.
    pub variables: Vec<(usize, Variable<'m>)>,
    /// Indirect functions that are declared as functions.
    pub ifuncs: Vec<(usize, Function<'m>)>,
}

struct Work<'m> {
    module: Module<'m>,
    context: Context<'m>,
    request: &'m CompileRequest,
    level: Level,
    extra: &'m [OsrFunction<'m>],
    out: Rewired,
}

/// Rewires the module, which has the given symbols, or all of the program's. The program does not
/// have the variables in `added`, which stay as they are.
pub(crate) fn rewire<'m>(
    module: Module<'m>,
    symbols: Option<Symbols<'m>>,
    request: &'m CompileRequest,
    level: Level,
    extra: &'m [OsrFunction<'m>],
    added: &[Variable<'m>],
) -> Result<Rewired, String> {
    let mut work = Work {
        module,
        context: module.context(),
        request,
        level,
        extra,
        out: Rewired {
            compiled: Vec::new(),
            entries: Vec::new(),
            skipped: Vec::new(),
            position_independent: false,
            inline: false,
            wide: false,
        },
    };
    let symbols = match symbols {
        Some(symbols) => symbols,
        None => work.all_symbols(added)?,
    };
    work.rewire_module(symbols)?;
    Ok(work.out)
}

/// Renames a value. Fails if a symbol of the guest already has the name.
fn rename<'m>(value: impl Into<Value<'m>>, symbol: Symbol) -> Result<String, String> {
    let (value, name) = (value.into(), symbol.to_string());
    value.set_name(&name);
    if *value.name() == *name {
        Ok(name)
    } else {
        Err(format!("the program has a symbol `{name}`"))
    }
}

impl<'m> Work<'m> {
    /// Returns the symbols of a module that has all of the program's. Deletes the lists that are
    /// for the linker.
    fn all_symbols(&self, added: &[Variable<'m>]) -> Result<Symbols<'m>, String> {
        let mut functions: Vec<Function> = self.module.functions().collect();
        functions.retain(|&f| self.extra.iter().all(|e| e.value != f));
        let mut variables = Vec::new();
        for variable in self.module.variables() {
            if added.contains(&variable) {
                continue;
            }
            if is_bookkeeping(&variable.name(), variable.section().as_deref()) {
                // SAFETY: code does not use the lists that are for the linker, and they are not
                // among `variables`.
                unsafe { variable.delete() };
            } else {
                variables.push(variable);
            }
        }
        if functions.len() != self.request.functions.len()
            || variables.len() != self.request.variables.len()
        {
            return Err("the files changed since they were read".into());
        }
        Ok(Symbols {
            functions: functions.into_iter().enumerate().collect(),
            variables: variables.into_iter().enumerate().collect(),
            ifuncs: Vec::new(),
        })
    }

    fn rewire_module(&mut self, symbols: Symbols<'m>) -> Result<(), String> {
        let module = self.module;
        module.drop_inline_asm();
        let Symbols {
            functions: all,
            variables: globals,
            ifuncs,
        } = symbols;
        for &(number, function) in &all {
            if self.request.functions[number] == FunctionBinding::Compiled {
                function.set_convention(convention::between_functions(function.convention()));
            }
        }
        self.aliases();
        self.ifuncs(ifuncs)?;
        materialize_thread_locals(module, self.request.switches_stacks);
        // A unit may be read from the file itself, in which calls lack what declarations say.
        copy_abi_attributes(module);
        let mut interpreted = self.choose(&all);
        self.landings(&globals, &mut interpreted);
        // Functions that were not read are deleted below.
        let here: Vec<bool> = all.iter().map(|(_, f)| !f.is_declaration()).collect();
        let callees = self.addresses(&all, &interpreted)?;
        let fast_paths = match self.level {
            Level::Full => fast_paths::link(module)?,
            Level::Quick => FastPaths::default(),
        };
        let thread_locals = self.globals(&globals)?;
        for (&(number, function), here) in all.iter().zip(here) {
            if self.request.functions[number] == FunctionBinding::Compiled
                && !interpreted.contains_key(&number)
                && here
            {
                self.body(function, &callees, &fast_paths, &thread_locals)?;
                self.definition(number, function)?;
            }
        }
        for extra in self.extra {
            if interpreted.contains_key(&extra.function) {
                // SAFETY: nothing calls an entry, and its handle is not used again.
                unsafe { extra.value.delete() };
                continue;
            }
            self.body(extra.value, &callees, &fast_paths, &thread_locals)?;
            in_no_place(extra.value);
            self.out.wide |= target_attributes::knew_wide(extra.value);
            target_attributes::set(extra.value);
            self.out.entries.push((extra.index, extra.name.clone()));
        }
        for &variable in thread_locals.keys() {
            if !variable.is_unused() {
                return Err("a thread_local variable is used in an unknown way".into());
            }
            // SAFETY: it is unused, and its handle is not used again.
            unsafe { variable.delete() };
        }
        self.out.inline |= fast_paths.sweep();
        self.finish(&callees);
        Ok(())
    }

    /// Makes OSR entries continue with exceptions that landed in their frames.
    fn landings(
        &mut self,
        globals: &[(usize, Variable<'m>)],
        interpreted: &mut HashMap<usize, &'static str>,
    ) {
        if self.extra.is_empty() {
            return;
        }
        let variables = globals.iter().map(|&(n, g)| (g, n)).collect();
        for extra in self.extra {
            let done = osr_landing::take_over(self.module, extra.value, &variables);
            if let Err(why) = done {
                interpreted.insert(extra.function, why);
                self.out.skipped.push((extra.function, why.to_owned()));
            }
        }
    }

    /// Declares a function for a symbol.
    fn declare(&self, symbol: Symbol, of: Type<'m>) -> Result<Function<'m>, String> {
        let new = self.module.add_function("", of);
        rename(new, symbol)?;
        Ok(new)
    }

    /// Returns the function of a symbol, and declares it if there is none.
    fn declare_once(&self, symbol: Symbol, of: Type<'m>) -> Result<Function<'m>, String> {
        match self.module.function(&symbol.to_string()) {
            Some(known) => Ok(known),
            None => self.declare(symbol, of),
        }
    }

    /// Returns the names of the functions, separated by commas.
    fn names(&self) -> String {
        let compiled = self.out.compiled.iter().map(|f| f.0);
        let numbers = compiled.chain(self.extra.iter().map(|e| e.function));
        let names: Vec<&str> = numbers.map(|n| &*self.request.names[n]).collect();
        names.join(",")
    }

    /// Deletes symbols that are no longer used.
    fn finish(&mut self, callees: &HashMap<Function<'m>, Function<'m>>) {
        for &symbol in callees.keys() {
            if symbol.is_unused() {
                // SAFETY: it is unused, and its handle is not used again.
                unsafe { symbol.delete() };
            }
        }
        tracing::trace!(
            target: log::IR,
            functions = %self.names(),
            text = self.module.text(),
            "a unit before its passes"
        );
    }
}
