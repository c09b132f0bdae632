//! Rewires a module's symbols to names that mean the same in every process ([`super::symbol`]).
//!
//! Variables become declarations; constants keep their value for folding. A function's address,
//! wherever it is taken, becomes a symbol of its own that refers to its stub, so that pointers
//! compare equal in every tier; direct calls stay direct. `thread_local` variables become offsets
//! from a block that is fetched once per function. Functions that must stay interpreted become
//! declarations whose calls go to their stubs. No address appears in the code.
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
use crate::parse::{Parsed, functions};
use crate::raw::{llvm, take_message};
use crate::reader::{is_bookkeeping, list, name_of, section_of};
use crate::shim::{copy_abi_attributes, materialize_thread_locals};
use hashbrown::HashMap;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::prelude::*;
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
pub(crate) struct OsrFunction {
    /// Index in the unit.
    pub index: usize,
    /// Number of the function that contains the loop.
    pub function: usize,
    /// The entry's symbol.
    pub name: String,
    /// The entry's function.
    pub value: LLVMValueRef,
}

struct Work<'a> {
    parsed: &'a Parsed,
    request: &'a CompileRequest,
    level: Level,
    extra: &'a [OsrFunction],
    out: Rewired,
}

/// Rewires the module.
pub(crate) fn rewire(
    parsed: &Parsed,
    request: &CompileRequest,
    level: Level,
    extra: &[OsrFunction],
) -> Result<Rewired, String> {
    let mut work = Work {
        parsed,
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
    work.rewire_module()?;
    Ok(work.out)
}

/// Lists a function's current instructions.
pub(in crate::native) fn instructions(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut out = Vec::new();
    let mut block = llvm!(core::LLVMGetFirstBasicBlock(function));
    while !block.is_null() {
        let mut inst = llvm!(core::LLVMGetFirstInstruction(block));
        while !inst.is_null() {
            out.push(inst);
            inst = llvm!(core::LLVMGetNextInstruction(inst));
        }
        block = llvm!(core::LLVMGetNextBasicBlock(block));
    }
    out
}

fn is_call(inst: LLVMValueRef) -> bool {
    matches!(
        llvm!(core::LLVMGetInstructionOpcode(inst)),
        LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr
    )
}

fn has_uses(value: LLVMValueRef) -> bool {
    !llvm!(core::LLVMGetFirstUse(value)).is_null()
}

/// Renames a value. Fails if a symbol of the guest already has the name.
fn rename(value: LLVMValueRef, symbol: Symbol) -> Result<String, String> {
    let name = symbol.to_string();
    llvm!(core::LLVMSetValueName2(
        value,
        name.as_ptr().cast(),
        name.len()
    ));
    if *name_of(value) == *name {
        Ok(name)
    } else {
        Err(format!("the program has a symbol `{name}`"))
    }
}

pub(in crate::native) fn intrinsic(callee: LLVMValueRef, prefix: &str) -> bool {
    !llvm!(core::LLVMIsAFunction(callee)).is_null() && name_of(callee).starts_with(prefix)
}

impl Work<'_> {
    fn rewire_module(&mut self) -> Result<(), String> {
        let module = self.parsed.module;
        llvm!(core::LLVMSetModuleInlineAsm2(module, c"".as_ptr(), 0));
        let mut all = functions(module);
        all.retain(|&f| self.extra.iter().all(|e| e.value != f));
        let mut globals = Vec::new();
        for g in list(llvm!(core::LLVMGetFirstGlobal(module)), |v| {
            llvm!(core::LLVMGetNextGlobal(v))
        })
        .collect::<Vec<_>>()
        {
            if is_bookkeeping(&name_of(g), section_of(g).as_deref()) {
                llvm!(core::LLVMDeleteGlobal(g));
            } else {
                globals.push(g);
            }
        }
        if all.len() != self.request.functions.len()
            || globals.len() != self.request.variables.len()
        {
            return Err("the files changed since they were read".into());
        }
        self.aliases();
        self.ifuncs()?;
        materialize_thread_locals(module);
        // A unit may be read from the file itself, in which calls lack what declarations say.
        copy_abi_attributes(module);
        let mut interpreted = self.choose(&all, &globals)?;
        self.landings(&globals, &mut interpreted);
        // Functions that were not read are deleted below.
        let here: Vec<bool> = all
            .iter()
            .map(|&f| llvm!(core::LLVMIsDeclaration(f)) == 0)
            .collect();
        let callees = self.addresses(&all, &interpreted)?;
        let fast_paths = match self.level {
            Level::Full => fast_paths::link(module, self.parsed.context)?,
            Level::Quick => FastPaths::default(),
        };
        let block = self.globals(&globals)?;
        for (number, &function) in all.iter().enumerate() {
            if self.request.functions[number] == FunctionBinding::Compiled
                && !interpreted.contains_key(&number)
                && here[number]
            {
                self.body(function, &callees, &fast_paths, &block)?;
                self.definition(number, function)?;
            }
        }
        for extra in self.extra {
            if interpreted.contains_key(&extra.function) {
                llvm!(core::LLVMDeleteFunction(extra.value));
                continue;
            }
            self.body(extra.value, &callees, &fast_paths, &block)?;
            in_no_place(extra.value);
            self.out.wide |= target_attributes::knew_wide(extra.value);
            target_attributes::set(extra.value);
            self.out.entries.push((extra.index, extra.name.clone()));
        }
        for &variable in block.keys() {
            if has_uses(variable) {
                return Err("a thread_local variable is used in an unknown way".into());
            }
            llvm!(core::LLVMDeleteGlobal(variable));
        }
        self.out.inline |= fast_paths.sweep();
        self.finish(&callees);
        Ok(())
    }

    /// Makes OSR entries continue with exceptions that landed in their frames.
    fn landings(
        &mut self,
        globals: &[LLVMValueRef],
        interpreted: &mut HashMap<usize, &'static str>,
    ) {
        if self.extra.is_empty() {
            return;
        }
        let variables = globals.iter().enumerate().map(|(n, &g)| (g, n)).collect();
        for extra in self.extra {
            let done = osr_landing::take_over(self.parsed.module, extra.value, &variables);
            if let Err(why) = done {
                interpreted.insert(extra.function, why);
                self.out.skipped.push((extra.function, why.to_owned()));
            }
        }
    }

    /// Declares a function for a symbol.
    fn declare(&self, symbol: Symbol, ty: LLVMTypeRef) -> Result<LLVMValueRef, String> {
        let new = llvm!(core::LLVMAddFunction(self.parsed.module, c"".as_ptr(), ty));
        rename(new, symbol)?;
        Ok(new)
    }

    /// Deletes symbols that are no longer used.
    fn finish(&mut self, callees: &HashMap<LLVMValueRef, LLVMValueRef>) {
        for &symbol in callees.keys() {
            if !has_uses(symbol) {
                llvm!(core::LLVMDeleteFunction(symbol));
            }
        }
        if self.request.dump {
            let text = llvm!(core::LLVMPrintModuleToString(self.parsed.module));
            eprintln!("{}", take_message(text));
        }
    }
}
