//! Links an object file into this process, all of it in the low two gigabytes.
//!
//! Why RuntimeDyld and not JITLink: LLVM's C interface gives callbacks for the memory of the
//! former only, and low memory is what lets code use 32-bit absolute addresses. Far targets
//! (the C library, our runtime) are reached through its stubs and its offset table.
//!
//! What not: nothing is linked lazily.

use crate::llvm::error::take_error;
use inkwell::llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use inkwell::llvm_sys::orc2::ee::*;
use inkwell::llvm_sys::orc2::lljit::*;
use inkwell::llvm_sys::orc2::*;
use inkwell::llvm_sys::prelude::*;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};
use std::ffi::{CString, c_char, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};

/// The memory of one linked object.
#[derive(Debug, Default)]
struct Sections {
    /// Start, bytes, whether it is code.
    list: Vec<(usize, usize, bool)>,
}

type Shared = Mutex<Sections>;

/// Linked code; its memory is given back when this is dropped.
#[derive(Debug)]
pub struct Code {
    jit: LLVMOrcLLJITRef,
    sections: Arc<Shared>,
}

// SAFETY: LLJIT locks its session internally; the sections are behind a mutex.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// Links an object; what `resolve` does not know is looked for in the process.
    ///
    /// # Errors
    /// LLVM's message, for example for a symbol that nobody has.
    pub fn new(object: &[u8], resolve: &dyn Fn(&str) -> Option<usize>) -> Result<Code, String> {
        let symbols = undefined(object, resolve)?;
        let sections: Arc<Shared> = Arc::default();
        // SAFETY: the builder is consumed by LLVMOrcCreateLLJIT; the sections outlive the JIT, as
        // `Code` holds both and disposes of the JIT first; names are C strings; the pairs are
        // copied; the object is consumed.
        unsafe {
            let mut machine = null_mut();
            take_error(LLVMOrcJITTargetMachineBuilderDetectHost(&mut machine))?;
            let builder = LLVMOrcCreateLLJITBuilder();
            LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, machine);
            LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(
                builder,
                make_layer,
                Arc::as_ptr(&sections).cast_mut().cast(),
            );
            let mut jit = null_mut();
            take_error(LLVMOrcCreateLLJIT(&mut jit, builder))?;
            let code = Code { jit, sections };
            let dylib = LLVMOrcLLJITGetMainJITDylib(jit);
            let mut generator = null_mut();
            take_error(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                &mut generator,
                LLVMOrcLLJITGetGlobalPrefix(jit),
                None,
                null_mut(),
            ))?;
            LLVMOrcJITDylibAddGenerator(dylib, generator);
            let mut pairs = Vec::with_capacity(symbols.len());
            for (name, address) in &symbols {
                pairs.push(LLVMOrcCSymbolMapPair {
                    Name: LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr()),
                    Sym: LLVMJITEvaluatedSymbol {
                        Address: *address as u64,
                        Flags: LLVMJITSymbolFlags {
                            GenericFlags: EXPORTED,
                            TargetFlags: 0,
                        },
                    },
                });
            }
            let unit = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
            take_error(LLVMOrcJITDylibDefine(dylib, unit))?;
            let object = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                object.as_ptr().cast(),
                object.len(),
                c"unit".as_ptr(),
            );
            take_error(LLVMOrcLLJITAddObjectFile(jit, dylib, object))?;
            Ok(code)
        }
    }

    /// The address of a function of the object.
    ///
    /// # Errors
    /// LLVM's message when it has none of that name or cannot be linked.
    pub fn lookup(&self, name: &str) -> Result<usize, String> {
        let name = CString::new(name).map_err(|e| e.to_string())?;
        let mut address = 0;
        // SAFETY: the name is a C string and the result a local.
        take_error(unsafe { LLVMOrcLLJITLookup(self.jit, &mut address, name.as_ptr()) })?;
        Ok(address as usize)
    }

    /// Start and length of each piece of code.
    pub fn ranges(&self) -> Vec<(usize, usize)> {
        let sections = self.sections.lock().unwrap_or_else(PoisonError::into_inner);
        let code = sections.list.iter().filter(|s| s.2);
        code.map(|&(start, len, _)| (start, len)).collect()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: made by LLVMOrcCreateLLJIT and disposed once; an error has nobody to go to. The
        // sections are unmapped when nothing refers to them any more.
        unsafe {
            let _ = take_error(LLVMOrcDisposeLLJIT(self.jit));
            let mut sections = self.sections.lock().unwrap_or_else(PoisonError::into_inner);
            for (start, len, _) in sections.list.drain(..) {
                libc::munmap(start as *mut c_void, len);
            }
        }
    }
}

/// Every undefined symbol of an object that `resolve` knows, with its value.
fn undefined(
    bytes: &[u8],
    resolve: &dyn Fn(&str) -> Option<usize>,
) -> Result<Vec<(CString, usize)>, String> {
    let file = ElfFile64::<Endianness>::parse(bytes).map_err(|e| e.to_string())?;
    let mut found = Vec::new();
    for symbol in file.symbols().filter(|s| s.is_undefined()) {
        let name = symbol.name().map_err(|e| e.to_string())?;
        if let Some(value) = resolve(name) {
            found.push((CString::new(name).map_err(|e| e.to_string())?, value));
        }
    }
    Ok(found)
}

/// `LLVMJITSymbolGenericFlagsExported`.
const EXPORTED: u8 = 1;
const PAGE: usize = 4096;

extern "C" fn make_layer(
    sections: *mut c_void,
    session: LLVMOrcExecutionSessionRef,
    _triple: *const c_char,
) -> LLVMOrcObjectLayerRef {
    // SAFETY: the callbacks have the types LLVM asks for.
    unsafe {
        LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks(
            session,
            sections,
            context,
            ignore,
            allocate_code,
            allocate_data,
            finalize,
            Some(ignore),
        )
    }
}

extern "C" fn context(sections: *mut c_void) -> *mut c_void {
    sections
}

extern "C" fn ignore(_: *mut c_void) {}

fn allocate(sections: *mut c_void, size: usize, code: bool) -> *mut u8 {
    let len = size.max(1).next_multiple_of(PAGE);
    // SAFETY: a fresh mapping; the context is the `Shared` that `Code` holds.
    unsafe {
        let p = libc::mmap(
            null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT,
            -1,
            0,
        );
        if p == libc::MAP_FAILED {
            return null_mut();
        }
        let shared = &*sections.cast::<Shared>();
        let mut sections = shared.lock().unwrap_or_else(PoisonError::into_inner);
        sections.list.push((p as usize, len, code));
        p.cast()
    }
}

extern "C" fn allocate_code(
    sections: *mut c_void,
    size: usize,
    _align: c_uint,
    _id: c_uint,
    _name: *const c_char,
) -> *mut u8 {
    allocate(sections, size, true)
}

extern "C" fn allocate_data(
    sections: *mut c_void,
    size: usize,
    _align: c_uint,
    _id: c_uint,
    _name: *const c_char,
    _read_only: LLVMBool,
) -> *mut u8 {
    allocate(sections, size, false)
}

extern "C" fn finalize(sections: *mut c_void, _message: *mut *mut c_char) -> LLVMBool {
    // SAFETY: the context is the `Shared` that `Code` holds; the mappings are ours.
    unsafe {
        let shared = &*sections.cast::<Shared>();
        let sections = shared.lock().unwrap_or_else(PoisonError::into_inner);
        for &(start, len, code) in &sections.list {
            if code {
                let prot = libc::PROT_READ | libc::PROT_EXEC;
                libc::mprotect(start as *mut c_void, len, prot);
            }
        }
    }
    0
}
