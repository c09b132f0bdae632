//! Symbols of functions and variables: names that mean the same in every process.
//!
//! Aliases and ifuncs are resolved first, so that every use is one of a function or a variable.
//! Functions get a symbol for their address and keep another for direct calls; variables become
//! declarations.
//!
//! The bodies that use the symbols are left to [`super::body`].

use super::Work;
use super::{has_uses, rename};
use crate::native::symbol::Symbol;
use crate::native::target_attributes;
use crate::native::{FunctionBinding, VariableBinding};
use crate::raw::llvm;
use crate::reader::list;
use crate::shim::replace_function;
use hashbrown::HashMap;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMVisibility};
use std::ptr::null_mut;

impl Work<'_> {
    /// Replaces every use of an alias by its aliasee.
    pub(super) fn aliases(&mut self) {
        let module = self.parsed.module;
        let all: Vec<_> = list(llvm!(core::LLVMGetFirstGlobalAlias(module)), |v| {
            llvm!(core::LLVMGetNextGlobalAlias(v))
        })
        .collect();
        if all.is_empty() {
            return;
        }
        // LLVM's C interface cannot erase an alias, so it is redirected to a harmless variable.
        let byte = llvm!(core::LLVMInt8TypeInContext(self.parsed.context));
        let rest = llvm!(core::LLVMAddGlobal(module, byte, c"ompvm.rest".as_ptr()));
        let zero = llvm!(core::LLVMConstInt(byte, 0, 0));
        llvm!(core::LLVMSetInitializer(rest, zero));
        llvm!(core::LLVMSetLinkage(rest, LLVMLinkage::LLVMInternalLinkage));
        for alias in all {
            let target = llvm!(core::LLVMAliasGetAliasee(alias));
            if has_uses(alias) {
                llvm!(core::LLVMReplaceAllUsesWith(alias, target));
            }
            llvm!(core::LLVMAliasSetAliasee(alias, rest));
            llvm!(core::LLVMSetLinkage(
                alias,
                LLVMLinkage::LLVMInternalLinkage
            ));
        }
    }

    pub(super) fn ifuncs(&mut self) -> Result<(), String> {
        let module = self.parsed.module;
        let all: Vec<_> = list(llvm!(core::LLVMGetFirstGlobalIFunc(module)), |v| {
            llvm!(core::LLVMGetNextGlobalIFunc(v))
        })
        .collect();
        for (i, ifunc) in all.into_iter().enumerate() {
            let ty = llvm!(core::LLVMGlobalGetValueType(ifunc));
            let new = self.declare(Symbol::IFunc(i), ty)?;
            llvm!(core::LLVMReplaceAllUsesWith(ifunc, new));
            llvm!(core::LLVMEraseGlobalIFunc(ifunc));
        }
        Ok(())
    }

    /// Gives every function's address a symbol of its own, and maps the symbol to the target of
    /// direct calls.
    pub(super) fn addresses(
        &mut self,
        all: &[LLVMValueRef],
        interpreted: &HashMap<usize, &'static str>,
    ) -> Result<HashMap<LLVMValueRef, LLVMValueRef>, String> {
        let pointer = llvm!(core::LLVMPointerTypeInContext(self.parsed.context, 0));
        let null = llvm!(core::LLVMConstNull(pointer));
        let mut callees = HashMap::new();
        for (n, &f) in all.iter().enumerate() {
            let (address, compiled) = match self.request.functions[n] {
                FunctionBinding::Intrinsic => continue,
                FunctionBinding::Compiled => (Symbol::Stub(n), !interpreted.contains_key(&n)),
                FunctionBinding::External => (Symbol::External(n), false),
                FunctionBinding::Null => {
                    if has_uses(f) {
                        llvm!(core::LLVMReplaceAllUsesWith(f, null));
                    }
                    llvm!(core::LLVMDeleteFunction(f));
                    continue;
                }
            };
            let body = llvm!(core::LLVMIsDeclaration(f)) == 0;
            // Functions that other units compile are called through their stubs.
            let (compiled, elsewhere) = (compiled && body, compiled && !body);
            if !has_uses(f) && !body {
                continue;
            }
            let ty = llvm!(core::LLVMGlobalGetValueType(f));
            let symbol = self.declare(address, ty)?;
            replace_function(f, symbol);
            if compiled {
                callees.insert(symbol, f);
            } else if body || elsewhere {
                llvm!(core::LLVMDeleteFunction(f));
            } else {
                // The name tells the code generator what a library function does.
                llvm!(core::LLVMSetLinkage(f, LLVMLinkage::LLVMExternalLinkage));
                callees.insert(symbol, f);
            }
        }
        Ok(callees)
    }

    /// Turns variables into declarations. Returns the offsets of the thread-local ones.
    pub(super) fn globals(
        &mut self,
        globals: &[LLVMValueRef],
    ) -> Result<HashMap<LLVMValueRef, usize>, String> {
        let module = self.parsed.module;
        let pointer = llvm!(core::LLVMPointerTypeInContext(self.parsed.context, 0));
        let null = llvm!(core::LLVMConstNull(pointer));
        let mut offsets = HashMap::new();
        for (n, &g) in globals.iter().enumerate() {
            let defined = llvm!(core::LLVMIsDeclaration(g)) == 0;
            let near = match self.request.variables[n] {
                VariableBinding::ThreadLocal(offset) => {
                    offsets.insert(g, offset);
                    continue;
                }
                VariableBinding::Foreign => continue,
                VariableBinding::Null => {
                    if has_uses(g) {
                        llvm!(core::LLVMReplaceAllUsesWith(g, null));
                    }
                    if !defined {
                        llvm!(core::LLVMDeleteGlobal(g));
                    }
                    continue;
                }
                VariableBinding::Near => true,
                VariableBinding::Far => false,
            };
            if near {
                rename(g, Symbol::Variable(n))?;
                llvm!(comdat::LLVMSetComdat(g, null_mut()));
                llvm!(core::LLVMSetSection(g, c"".as_ptr()));
                let constant = llvm!(core::LLVMIsGlobalConstant(g)) != 0;
                if defined && constant {
                    llvm!(core::LLVMSetLinkage(
                        g,
                        LLVMLinkage::LLVMAvailableExternallyLinkage
                    ));
                } else {
                    llvm!(core::LLVMSetInitializer(g, null_mut()));
                    llvm!(core::LLVMSetLinkage(g, LLVMLinkage::LLVMExternalLinkage));
                }
                llvm!(core::LLVMSetVisibility(
                    g,
                    LLVMVisibility::LLVMHiddenVisibility
                ));
                continue;
            }
            // A new declaration, because the old one may promise to be near.
            let ty = llvm!(core::LLVMGlobalGetValueType(g));
            let new = llvm!(core::LLVMAddGlobal(module, ty, c"".as_ptr()));
            rename(new, Symbol::Variable(n))?;
            let align = llvm!(core::LLVMGetAlignment(g));
            llvm!(core::LLVMSetAlignment(new, align));
            let constant = llvm!(core::LLVMIsGlobalConstant(g));
            llvm!(core::LLVMSetGlobalConstant(new, constant));
            llvm!(core::LLVMReplaceAllUsesWith(g, new));
            llvm!(core::LLVMDeleteGlobal(g));
        }
        Ok(offsets)
    }

    /// Makes a compiled function external under its own symbol, for this processor.
    pub(super) fn definition(
        &mut self,
        number: usize,
        function: LLVMValueRef,
    ) -> Result<(), String> {
        let name = rename(function, Symbol::Function(number))?;
        llvm!(core::LLVMSetLinkage(
            function,
            LLVMLinkage::LLVMExternalLinkage
        ));
        in_no_place(function);
        self.out.wide |= target_attributes::knew_wide(function);
        target_attributes::set(function);
        self.out.compiled.push((number, name));
        Ok(())
    }
}

/// Resets visibility, comdat and section that the guest's compiler chose.
pub(super) fn in_no_place(function: LLVMValueRef) {
    llvm!(core::LLVMSetVisibility(
        function,
        LLVMVisibility::LLVMDefaultVisibility
    ));
    llvm!(comdat::LLVMSetComdat(function, null_mut()));
    llvm!(core::LLVMSetSection(function, c"".as_ptr()));
}
