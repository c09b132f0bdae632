//! Symbols of functions and variables: names that mean the same in every process.
//!
//! Aliases and ifuncs are resolved first, so that every use is one of a function or a variable.
//! Functions get a symbol for their address and keep another for direct calls; variables become
//! declarations.
//!
//! The bodies that use the symbols are left to [`super::body`].

use super::body::ThreadLocalPlace;
use super::{Work, rename};
use crate::handles::{Function, Linkage, Variable, Visibility};
use crate::native::symbol::Symbol;
use crate::native::target_attributes;
use crate::native::{FunctionBinding, VariableBinding};
use crate::shim::replace_function;
use hashbrown::HashMap;

impl<'m> Work<'m> {
    /// Replaces every use of an alias by its aliasee.
    pub(super) fn aliases(&mut self) {
        // LLVM's C interface cannot erase an alias, so it is redirected to a harmless variable of
        // its address space.
        let mut rests: HashMap<u32, Variable> = HashMap::new();
        for alias in self.module.aliases() {
            let target = alias.aliasee();
            if !alias.is_unused() {
                alias.replace_by(target);
            }
            let space = alias.of().address_space().unwrap_or(0);
            let rest = rests.entry(space).or_insert_with(|| self.rest(space));
            alias.set_aliasee(*rest);
            alias.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }

    /// Defines a variable that aliases may name.
    fn rest(&self, space: u32) -> Variable<'m> {
        let byte = self.context.int(8);
        let rest = self.module.add_variable("ompvm.rest", byte, space);
        rest.set_initializer(byte.zero());
        rest.set_linkage(Linkage::LLVMInternalLinkage);
        rest
    }

    /// Gives each indirect function its symbol; those in `declared` are functions already.
    pub(super) fn ifuncs(&mut self, declared: Vec<(usize, Function<'m>)>) -> Result<(), String> {
        for (number, ifunc) in declared {
            rename(ifunc, Symbol::IFunc(number))?;
        }
        for (number, ifunc) in self.module.ifuncs().enumerate() {
            let new = self.declare(Symbol::IFunc(number), ifunc.signature())?;
            // SAFETY: the handle is not used again.
            unsafe { ifunc.replace_and_delete(new) };
        }
        Ok(())
    }

    /// Gives every function's address a symbol of its own, and maps the symbol to the target of
    /// direct calls. Functions that are neither compiled here nor called by their own name are
    /// deleted; callers do not use their handles afterwards.
    pub(super) fn addresses(
        &mut self,
        all: &[(usize, Function<'m>)],
        interpreted: &HashMap<usize, &'static str>,
    ) -> Result<HashMap<Function<'m>, Function<'m>>, String> {
        let mut callees = HashMap::new();
        for &(n, f) in all {
            let (address, compiled) = match self.request.functions[n] {
                FunctionBinding::Intrinsic => continue,
                FunctionBinding::Compiled => (Symbol::Stub(n), !interpreted.contains_key(&n)),
                FunctionBinding::External => (Symbol::External(n), false),
                FunctionBinding::Null => {
                    if !f.is_unused() {
                        f.replace_by(f.of().zero());
                    }
                    // SAFETY: all uses are replaced, and the handle is not used again.
                    unsafe { f.delete() };
                    continue;
                }
            };
            let body = !f.is_declaration();
            // Functions that other units compile are called through their stubs.
            let (compiled, elsewhere) = (compiled && body, compiled && !body);
            if f.is_unused() && !body {
                continue;
            }
            let symbol = self.declare(address, f.signature())?;
            replace_function(f, symbol);
            if compiled {
                callees.insert(symbol, f);
            } else if body || elsewhere {
                // SAFETY: all uses are replaced, those in block addresses of its own body go with
                // it, and the handle is not used again.
                unsafe { f.delete() };
            } else {
                // The name tells the code generator what a library function does.
                f.set_linkage(Linkage::LLVMExternalLinkage);
                callees.insert(symbol, f);
            }
        }
        Ok(callees)
    }

    /// Turns variables into declarations. Returns the places of the thread-local ones; handles of
    /// others are not used afterwards.
    pub(super) fn globals(
        &mut self,
        globals: &[(usize, Variable<'m>)],
    ) -> Result<HashMap<Variable<'m>, ThreadLocalPlace<'m>>, String> {
        let mut places = HashMap::new();
        for &(n, g) in globals {
            match self.request.variables[n] {
                VariableBinding::ThreadLocal(offset) => {
                    places.insert(g, ThreadLocalPlace::InBlock(offset));
                }
                VariableBinding::Foreign if g.is_unused() => {}
                VariableBinding::Foreign => {
                    let record = self.outside(Symbol::LibraryVariable(n), 0)?;
                    places.insert(g, ThreadLocalPlace::OfLibrary(record));
                }
                VariableBinding::Null => {
                    if !g.is_unused() {
                        g.replace_by(g.of().zero());
                    }
                    if g.is_declaration() {
                        // SAFETY: all uses are replaced, and the handle is not used again.
                        unsafe { g.delete() };
                    }
                }
                VariableBinding::Near => declare_near(g, n)?,
                VariableBinding::Far => self.declare_far(g, n)?,
            }
        }
        Ok(places)
    }

    /// Replaces a variable by a new declaration, because the old one may promise to be near. The
    /// handle of the old one is not used afterwards.
    fn declare_far(&self, old: Variable<'m>, number: usize) -> Result<(), String> {
        let new = self
            .module
            .add_variable("", old.contents(), old.address_space());
        rename(new, Symbol::Variable(number))?;
        let alignment = old.alignment();
        if alignment > 0 {
            new.set_alignment(alignment);
        }
        new.set_read_only(old.is_read_only());
        old.replace_by(new);
        // SAFETY: all uses are replaced, and callers do not use the handle again.
        unsafe { old.delete() };
        Ok(())
    }

    /// Makes a compiled function external under its own symbol, for this processor.
    pub(super) fn definition(
        &mut self,
        number: usize,
        function: Function<'m>,
    ) -> Result<(), String> {
        let name = rename(function, Symbol::Function(number))?;
        function.set_linkage(Linkage::LLVMExternalLinkage);
        in_no_place(function);
        self.out.wide |= target_attributes::knew_wide(function);
        target_attributes::set(function);
        self.out.compiled.push((number, name));
        Ok(())
    }
}

/// Makes a variable a declaration; constants keep their value for folding.
fn declare_near(variable: Variable<'_>, number: usize) -> Result<(), String> {
    let defined = !variable.is_declaration();
    rename(variable, Symbol::Variable(number))?;
    variable.clear_section();
    if defined && variable.is_read_only() {
        variable.set_linkage(Linkage::LLVMAvailableExternallyLinkage);
    } else {
        variable.clear_initializer();
        variable.set_linkage(Linkage::LLVMExternalLinkage);
    }
    variable.set_visibility(Visibility::LLVMHiddenVisibility);
    Ok(())
}

/// Resets visibility, comdat and section that the guest's compiler chose.
pub(super) fn in_no_place(function: Function<'_>) {
    function.set_visibility(Visibility::LLVMDefaultVisibility);
    function.clear_section();
}
