//! Contexts with an owner of their own, which collects the errors that LLVM reports.

use super::Context;
use crate::raw::{llvm, take_message};
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMDiagnosticInfoRef};
use std::cell::RefCell;
use std::ffi::c_void;

/// A context that is disposed of with this value.
pub(crate) struct OwnedContext {
    raw: LLVMContextRef,
    /// Boxed because LLVM holds their address.
    errors: Box<RefCell<Vec<String>>>,
}

impl OwnedContext {
    /// Creates a context whose errors are collected.
    pub(crate) fn new() -> OwnedContext {
        let errors = Box::new(RefCell::new(Vec::new()));
        let raw = llvm!(core::LLVMContextCreate());
        let address: *const RefCell<Vec<String>> = &*errors;
        llvm!(core::LLVMContextSetDiagnosticHandler(
            raw,
            Some(on_diagnostic),
            address.cast_mut().cast()
        ));
        OwnedContext { raw, errors }
    }

    /// Returns a handle of the context.
    pub(crate) fn context(&self) -> Context<'_> {
        // SAFETY: the context lives as long as `self`.
        unsafe { Context::from_raw(self.raw) }
    }

    /// Adds an error to those that LLVM reported.
    pub(crate) fn report(&self, error: &str) {
        self.errors.borrow_mut().push(error.to_owned());
    }

    /// Takes the errors that were reported so far.
    pub(crate) fn take_errors(&self) -> Vec<String> {
        self.errors.take()
    }
}

impl Drop for OwnedContext {
    fn drop(&mut self) {
        llvm!(core::LLVMContextDispose(self.raw));
    }
}

extern "C" fn on_diagnostic(info: LLVMDiagnosticInfoRef, errors: *mut c_void) {
    if let Some(text) = error_text(info) {
        // SAFETY: the address is that of the box in `OwnedContext`, which outlives the context; the
        // handler is called only inside a call on that context, while no borrow is held.
        let errors = unsafe { &*errors.cast::<RefCell<Vec<String>>>() };
        errors.borrow_mut().push(text);
    }
}

/// Returns the text of what LLVM tells a handler; `None` for warnings and remarks.
pub(crate) fn error_text(info: LLVMDiagnosticInfoRef) -> Option<String> {
    let severity = llvm!(core::LLVMGetDiagInfoSeverity(info));
    (severity == LLVMDiagnosticSeverity::LLVMDSError)
        .then(|| take_message(llvm!(core::LLVMGetDiagInfoDescription(info))))
}
