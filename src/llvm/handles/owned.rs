//! Modules with an owner of their own, which are linked into others.

use super::{Context, Module, Owner};
use crate::raw::llvm;
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use std::marker::PhantomData;
use std::ptr::null_mut;

/// A module that is disposed of with this value. Its context outlives it.
pub(crate) struct OwnedModule<'m>(LLVMModuleRef, Owner<'m>);

impl<'m> OwnedModule<'m> {
    /// Reads bitcode. LLVM tells the context's handler why it cannot.
    pub(crate) fn parse(context: Context<'m>, bitcode: &[u8]) -> Option<OwnedModule<'m>> {
        let buffer = llvm!(core::LLVMCreateMemoryBufferWithMemoryRangeCopy(
            bitcode.as_ptr().cast(),
            bitcode.len(),
            c"library".as_ptr()
        ));
        let mut module = null_mut();
        let failed = llvm!(bit_reader::LLVMParseBitcodeInContext2(
            context.raw(),
            buffer,
            &mut module
        )) != 0;
        llvm!(core::LLVMDisposeMemoryBuffer(buffer));
        (!failed).then_some(OwnedModule(module, PhantomData))
    }

    /// Copies a module.
    pub(crate) fn copy_of(module: Module<'m>) -> OwnedModule<'m> {
        OwnedModule(llvm!(core::LLVMCloneModule(module.raw())), PhantomData)
    }

    /// Returns a handle of the module.
    pub(crate) fn module(&self) -> Module<'_> {
        // SAFETY: the module lives as long as `self`.
        unsafe { Module::from_raw(self.0) }
    }

    /// Takes over the triple and the layout of data of another module.
    pub(crate) fn take_target(&self, of: Module) {
        let triple = llvm!(core::LLVMGetTarget(of.raw()));
        llvm!(core::LLVMSetTarget(self.0, triple));
        let layout = llvm!(core::LLVMGetDataLayoutStr(of.raw()));
        llvm!(core::LLVMSetDataLayout(self.0, layout));
    }

    /// Links everything into another module. Returns true on success.
    ///
    /// # Safety
    /// No handle of that module's functions and variables, which linking may replace, is used
    /// afterwards.
    pub(crate) unsafe fn link_into(self, module: Module<'m>) -> bool {
        llvm!(linker::LLVMLinkModules2(module.raw(), self.release())) == 0
    }

    /// Links what another module uses into it. Returns true on success.
    ///
    /// # Safety
    /// As for [`OwnedModule::link_into`].
    pub(crate) unsafe fn link_needed_into(self, module: Module<'m>) -> bool {
        crate::shim::link_needed(module.raw(), self.release())
    }

    /// Leaves the module to LLVM, which disposes of what it links, also if it fails.
    fn release(self) -> LLVMModuleRef {
        let module = self.0;
        std::mem::forget(self);
        module
    }
}

impl Drop for OwnedModule<'_> {
    fn drop(&mut self) {
        llvm!(core::LLVMDisposeModule(self.0));
    }
}
