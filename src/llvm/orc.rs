//! Wrapper of LLVM's ORC just-in-time compiler, which inkwell lacks: textual IR or object files in,
//! addresses out.
//!
//! Each module is parsed in a context of its own, so threads share no context. The code lives as
//! long as the [`Jit`].
//!
//! There are no tiers and no cache, and constructors of compiled modules do not run.

use super::error::take_error;
use super::handles::error_text;
use inkwell::llvm_sys::core::{
    LLVMContextCreate, LLVMContextSetDiagnosticHandler, LLVMCreateMemoryBufferWithMemoryRangeCopy,
    LLVMDisposeMessage,
};
use inkwell::llvm_sys::ir_reader::LLVMParseIRInContext2;
use inkwell::llvm_sys::orc2::lljit::*;
use inkwell::llvm_sys::orc2::*;
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use parking_lot::Mutex;
use std::ffi::{CStr, CString, c_void};
use std::ptr;

/// An LLJIT for the host's processor.
#[derive(Debug)]
pub struct Jit {
    jit: LLVMOrcLLJITRef,
    /// Errors that LLVM reported for compiled modules; boxed because contexts hold their address.
    errors: Box<Mutex<Vec<String>>>,
}

/// Records an error that LLVM reports. Without a handler LLVM prints it and ends the process.
extern "C" fn on_diagnostic(info: LLVMDiagnosticInfoRef, errors: *mut c_void) {
    if let Some(text) = error_text(info) {
        // SAFETY: the address is that of the box in `Jit`, which outlives the contexts of its
        // modules.
        let errors = unsafe { &*errors.cast::<Mutex<Vec<String>>>() };
        errors.lock().push(text);
    }
}

// SAFETY: LLJIT may be used from several threads (its session locks internally), and every module
// given to it has a context of its own.
unsafe impl Send for Jit {}
// SAFETY: for the same reasons as `Send`.
unsafe impl Sync for Jit {}

impl Jit {
    /// Creates a compiler for this machine. Symbols that its modules do not define are looked up in
    /// the process.
    ///
    /// # Errors
    /// Returns LLVM's message if the host is not supported or memory is short.
    pub fn new() -> Result<Self, String> {
        let this = Jit::closed()?;
        // SAFETY: the compiler is live, the out-pointer is a local, and the error is taken.
        unsafe {
            let mut generator = ptr::null_mut();
            take_error(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                &mut generator,
                LLVMOrcLLJITGetGlobalPrefix(this.jit),
                None,
                ptr::null_mut(),
            ))?;
            LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(this.jit), generator);
        }
        Ok(this)
    }

    /// Creates a compiler like [`Jit::new`] whose modules only find symbols defined by
    /// [`Jit::define`].
    ///
    /// # Errors
    /// Fails as [`Jit::new`] does.
    pub fn closed() -> Result<Self, String> {
        super::initialize_target();
        // SAFETY: LLVMOrcCreateLLJIT consumes the builder, the out-pointers are locals, and every
        // error is taken.
        unsafe {
            let mut machine = ptr::null_mut();
            take_error(LLVMOrcJITTargetMachineBuilderDetectHost(&mut machine))?;
            let builder = LLVMOrcCreateLLJITBuilder();
            LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, machine);
            let mut jit = ptr::null_mut();
            take_error(LLVMOrcCreateLLJIT(&mut jit, builder))?;
            Ok(Jit {
                jit,
                errors: Box::default(),
            })
        }
    }

    /// Defines symbols at addresses of this process.
    ///
    /// # Errors
    /// Returns LLVM's message if a symbol is already defined.
    pub fn define(&mut self, symbols: &[(String, usize)]) -> Result<(), String> {
        let flags = || LLVMJITSymbolFlags {
            GenericFlags: LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8
                | LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsCallable as u8,
            TargetFlags: 0,
        };
        let mut pairs = Vec::with_capacity(symbols.len());
        for (name, address) in symbols {
            let name = CString::new(name.as_str()).map_err(|e| e.to_string())?;
            // SAFETY: the compiler is live, and the C string is copied.
            let name = unsafe { LLVMOrcLLJITMangleAndIntern(self.jit, name.as_ptr()) };
            pairs.push(LLVMOrcCSymbolMapPair {
                Name: name,
                Sym: LLVMJITEvaluatedSymbol {
                    Address: *address as u64,
                    Flags: flags(),
                },
            });
        }
        // SAFETY: pointer and length describe the list, whose names are handed over; on an error
        // the unit stays ours and is disposed of.
        unsafe {
            let unit = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
            let dylib = LLVMOrcLLJITGetMainJITDylib(self.jit);
            let result = take_error(LLVMOrcJITDylibDefine(dylib, unit));
            if result.is_err() {
                LLVMOrcDisposeMaterializationUnit(unit);
            }
            result
        }
    }

    /// Adds a module of textual IR. It is compiled at the first lookup of one of its symbols.
    ///
    /// # Errors
    /// Returns LLVM's message if the text is not valid IR or a symbol is already defined.
    pub fn add_ir(&self, text: &str) -> Result<(), String> {
        // SAFETY: the buffer is a copy that is disposed of here, the thread-safe context owns the
        // context, and LLJIT owns the module.
        unsafe {
            let context = LLVMContextCreate();
            let errors: *const Mutex<Vec<String>> = &*self.errors;
            LLVMContextSetDiagnosticHandler(context, Some(on_diagnostic), errors.cast_mut().cast());
            let shared = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(context);
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                text.as_ptr().cast(),
                text.len(),
                c"thunk".as_ptr(),
            );
            let mut module = ptr::null_mut();
            let mut message = ptr::null_mut();
            let failed = LLVMParseIRInContext2(context, buffer, &mut module, &mut message) != 0;
            inkwell::llvm_sys::core::LLVMDisposeMemoryBuffer(buffer);
            if failed {
                let cause = if message.is_null() {
                    "LLVM could not parse it".to_owned()
                } else {
                    let text = CStr::from_ptr(message).to_string_lossy().into_owned();
                    LLVMDisposeMessage(message);
                    text
                };
                LLVMOrcDisposeThreadSafeContext(shared);
                return Err(cause);
            }
            let safe = LLVMOrcCreateNewThreadSafeModule(module, shared);
            LLVMOrcDisposeThreadSafeContext(shared);
            take_error(LLVMOrcLLJITAddLLVMIRModule(
                self.jit,
                LLVMOrcLLJITGetMainJITDylib(self.jit),
                safe,
            ))
        }
    }

    /// Adds an object file. It is linked at the first lookup of one of its symbols.
    ///
    /// # Errors
    /// Returns LLVM's message if it is no object file or a symbol is already defined.
    pub fn add_object(&self, bytes: &[u8]) -> Result<(), String> {
        // SAFETY: the buffer is a copy, which LLJIT takes over, and the error is taken.
        unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                bytes.as_ptr().cast(),
                bytes.len(),
                c"object".as_ptr(),
            );
            take_error(LLVMOrcLLJITAddObjectFile(
                self.jit,
                LLVMOrcLLJITGetMainJITDylib(self.jit),
                buffer,
            ))
        }
    }

    /// Returns the address of a symbol, compiling its module first if necessary.
    ///
    /// # Errors
    /// Returns LLVM's message if the symbol is unknown or cannot be compiled.
    pub fn lookup(&self, name: &str) -> Result<usize, String> {
        let name = CString::new(name).map_err(|e| e.to_string())?;
        let mut address = 0;
        // SAFETY: the name is a C string and the result a local.
        take_error(unsafe { LLVMOrcLLJITLookup(self.jit, &mut address, name.as_ptr()) })?;
        // LLVM generates code in spite of errors, without the part at fault.
        let errors = std::mem::take(&mut *self.errors.lock());
        match errors.first() {
            Some(error) => Err(error.lines().next().unwrap_or_default().to_owned()),
            None => Ok(address as usize),
        }
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: LLVMOrcCreateLLJIT made the value, and it is disposed of once. An error has no
        // receiver.
        let _ = take_error(unsafe { LLVMOrcDisposeLLJIT(self.jit) });
    }
}
