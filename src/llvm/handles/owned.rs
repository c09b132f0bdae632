//! Modules with an owner of their own, which are linked into others.

use super::{Context, Module, Owner};
use crate::raw::{llvm, take_message};
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use std::ffi::CStr;
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

    /// Reads bitcode or textual IR, which LLVM gets as a buffer of that name.
    ///
    /// # Errors
    /// Returns LLVM's message; empty if it told the context's handler.
    pub(crate) fn parse_ir(
        context: Context<'m>,
        input: &[u8],
        name: &CStr,
        textual: bool,
    ) -> Result<OwnedModule<'m>, String> {
        let (start, len) = (input.as_ptr().cast(), input.len());
        // LLVM expects textual IR to end with a zero byte, so it is copied.
        let buffer = match textual {
            true => llvm!(core::LLVMCreateMemoryBufferWithMemoryRangeCopy(
                start,
                len,
                name.as_ptr()
            )),
            false => llvm!(core::LLVMCreateMemoryBufferWithMemoryRange(
                start,
                len,
                name.as_ptr(),
                0
            )),
        };
        let (mut module, mut message) = (null_mut(), null_mut());
        let failed = llvm!(ir_reader::LLVMParseIRInContext2(
            context.raw(),
            buffer,
            &mut module,
            &mut message
        )) != 0;
        llvm!(core::LLVMDisposeMemoryBuffer(buffer));
        let message = take_message(message);
        match failed || module.is_null() {
            true => Err(message),
            false => Ok(OwnedModule(module, PhantomData)),
        }
    }

    /// Takes a module over.
    ///
    /// # Safety
    /// The module is live and in a context that lives for `'m`, and nothing else disposes of it.
    pub(crate) unsafe fn from_raw(module: LLVMModuleRef) -> OwnedModule<'m> {
        OwnedModule(module, PhantomData)
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

    /// Gives the module away: to LLVM, which disposes of what it links, also if it fails, or to
    /// another owner.
    pub(crate) fn release(self) -> LLVMModuleRef {
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
