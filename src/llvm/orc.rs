//! LLVM's ORC just-in-time compiler, as far as this project uses it: textual IR in, addresses out.
//!
//! Why our own wrapper: inkwell has no ORCv2. Each module is parsed in a context of its own, so
//! no context is shared between threads; the code lives as long as the [`Jit`].
//!
//! What not: no tiers, no cache; constructors of the compiled modules are not run.

use super::error::take_error;
use super::raw::{llvm, take_message};
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
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

/// One LLJIT for the host's processor.
#[derive(Debug)]
pub struct Jit {
    jit: LLVMOrcLLJITRef,
    /// Errors that LLVM reported of what it compiled; boxed because contexts hold its address.
    errors: Box<Mutex<Vec<String>>>,
}

/// Notes an error that LLVM reports. Without such a handler LLVM writes it and ends the process.
extern "C" fn on_diagnostic(info: LLVMDiagnosticInfoRef, errors: *mut c_void) {
    let severity = llvm!(core::LLVMGetDiagInfoSeverity(info));
    if severity == LLVMDiagnosticSeverity::LLVMDSError {
        let text = take_message(llvm!(core::LLVMGetDiagInfoDescription(info)));
        // SAFETY: the address is the box in `Jit`, which outlives the contexts of what it compiles.
        let errors = unsafe { &*errors.cast::<Mutex<Vec<String>>>() };
        errors.lock().push(text);
    }
}

// SAFETY: LLJIT may be used from several threads (its session locks internally), and every
// module given to it has a context of its own.
unsafe impl Send for Jit {}
// SAFETY: as above.
unsafe impl Sync for Jit {}

impl Jit {
    /// Makes a compiler for this machine; symbols not found in what it compiled are looked up in
    /// the process.
    ///
    /// # Errors
    /// LLVM's message when the host is not supported or memory is short.
    pub fn new() -> Result<Self, String> {
        let this = Jit::closed()?;
        // SAFETY: the compiler lives, the out-pointer is a local, and the error is taken.
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

    /// As [`Jit::new`], but what is compiled finds only what [`Jit::define`] names.
    ///
    /// # Errors
    /// As for [`Jit::new`].
    pub fn closed() -> Result<Self, String> {
        super::initialise_target();
        // SAFETY: the builder is consumed by LLVMOrcCreateLLJIT, the out-pointers are locals,
        // and every error is taken.
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

    /// Gives names to addresses of this process.
    ///
    /// # Errors
    /// LLVM's message when a name has one already.
    pub fn define(&mut self, symbols: &[(String, usize)]) -> Result<(), String> {
        let flags = || LLVMJITSymbolFlags {
            GenericFlags: LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8
                | LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsCallable as u8,
            TargetFlags: 0,
        };
        let mut pairs = Vec::with_capacity(symbols.len());
        for (name, address) in symbols {
            let name = CString::new(name.as_str()).map_err(|e| e.to_string())?;
            // SAFETY: a live compiler and a C string, which is copied.
            let name = unsafe { LLVMOrcLLJITMangleAndIntern(self.jit, name.as_ptr()) };
            pairs.push(LLVMOrcCSymbolMapPair {
                Name: name,
                Sym: LLVMJITEvaluatedSymbol {
                    Address: *address as u64,
                    Flags: flags(),
                },
            });
        }
        // SAFETY: the list is as long as said, its names are handed over; on an error the unit
        // stays ours and is disposed of.
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

    /// Adds a module given as textual IR; it is compiled at the first look-up of its symbols.
    ///
    /// # Errors
    /// LLVM's message when the text is not valid IR or a symbol is already defined.
    pub fn add_ir(&self, text: &str) -> Result<(), String> {
        // SAFETY: the buffer is a copy that is disposed here, the context is owned by the thread-safe
        // context, the module by LLJIT.
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

    /// The address of a symbol, compiling its module when that has not happened yet.
    ///
    /// # Errors
    /// LLVM's message when the symbol is unknown or cannot be compiled.
    pub fn lookup(&self, name: &str) -> Result<usize, String> {
        let name = CString::new(name).map_err(|e| e.to_string())?;
        let mut address = 0;
        // SAFETY: the name is a C string and the result a local.
        take_error(unsafe { LLVMOrcLLJITLookup(self.jit, &mut address, name.as_ptr()) })?;
        // Code is made all the same, without what the error was about.
        let errors = std::mem::take(&mut *self.errors.lock());
        match errors.first() {
            Some(error) => Err(error.lines().next().unwrap_or_default().to_owned()),
            None => Ok(address as usize),
        }
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: made by LLVMOrcCreateLLJIT and disposed once; an error has nobody to go to.
        let _ = take_error(unsafe { LLVMOrcDisposeLLJIT(self.jit) });
    }
}
