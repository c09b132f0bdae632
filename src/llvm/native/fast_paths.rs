//! Inlinable fast paths of the runtime's entries (`runtime-c/`), linked into a unit.
//!
//! Computing a thread's share of a loop, or testing whether the thread is alone or the primary one,
//! takes a few instructions; a call takes more and hides the loop's bounds from the passes.
//!
//! An entry is not replaced if the program defines it itself or declares it with another type.

use super::target_attributes;
use crate::raw::llvm;
use crate::reader::{list, name_of};
use hashbrown::HashMap;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMModule};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

const BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/entries.bc"));
const PREFIX: &str = "short_";

static DISABLED: AtomicBool = AtomicBool::new(false);

/// Disables the fast paths for all further units: a tool is to see every call of the runtime.
pub fn disable() {
    DISABLED.store(true, Ordering::Relaxed);
}

/// Fast paths that calls may use instead of the runtime's entries.
#[derive(Default)]
pub(super) struct FastPaths {
    /// The fast path by the entry's declaration.
    replacement: HashMap<LLVMValueRef, LLVMValueRef>,
    /// All functions that were linked in.
    linked: Vec<LLVMValueRef>,
}

/// Links the fast paths into a module that declares an entry with one, and maps each declaration to
/// its replacement in calls.
///
/// # Errors
/// Returns a sentence if LLVM refuses the embedded bitcode.
pub(super) fn link(module: LLVMModuleRef, context: LLVMContextRef) -> Result<FastPaths, String> {
    let mut entries = FastPaths::default();
    if BITCODE.is_empty() || DISABLED.load(Ordering::Relaxed) || !uses_runtime(module) {
        return Ok(entries);
    }
    let buffer = llvm!(core::LLVMCreateMemoryBufferWithMemoryRangeCopy(
        BITCODE.as_ptr().cast(),
        BITCODE.len(),
        c"entries".as_ptr()
    ));
    let mut runtime: *mut LLVMModule = null_mut();
    let failed = llvm!(bit_reader::LLVMParseBitcodeInContext2(
        context,
        buffer,
        &mut runtime
    )) != 0;
    llvm!(core::LLVMDisposeMemoryBuffer(buffer));
    if failed || llvm!(linker::LLVMLinkModules2(module, runtime)) != 0 {
        return Err("the runtime's fast paths cannot be linked".into());
    }
    let all: Vec<_> = list(llvm!(core::LLVMGetFirstFunction(module)), |v| {
        llvm!(core::LLVMGetNextFunction(v))
    })
    .collect();
    let named: HashMap<String, LLVMValueRef> =
        all.iter().map(|&f| (name_of(f).into(), f)).collect();
    for &short in &all {
        let name = name_of(short);
        let entry = name.strip_prefix(PREFIX).unwrap_or_default();
        if !(entry.starts_with("__kmpc_") || entry.starts_with("omp_"))
            || llvm!(core::LLVMIsDeclaration(short)) != 0
        {
            continue;
        }
        llvm!(core::LLVMSetLinkage(
            short,
            LLVMLinkage::LLVMInternalLinkage
        ));
        target_attributes::set(short);
        entries.linked.push(short);
        if let Some(&declared) = named.get(entry)
            && llvm!(core::LLVMIsDeclaration(declared)) != 0
            && llvm!(core::LLVMGlobalGetValueType(declared))
                == llvm!(core::LLVMGlobalGetValueType(short))
        {
            entries.replacement.insert(declared, short);
        }
    }
    Ok(entries)
}

fn uses_runtime(module: LLVMModuleRef) -> bool {
    list(llvm!(core::LLVMGetFirstFunction(module)), |v| {
        llvm!(core::LLVMGetNextFunction(v))
    })
    .map(name_of)
    .any(|name| name.starts_with("__kmpc_") || &*name == "omp_set_lock")
}

impl FastPaths {
    /// Returns the fast path that calls of a declaration may use.
    pub(super) fn replacement(&self, declared: LLVMValueRef) -> Option<LLVMValueRef> {
        self.replacement.get(&declared).copied()
    }

    /// Deletes unused fast paths. Returns true if some are left to be inlined.
    pub(super) fn sweep(&self) -> bool {
        let mut left = false;
        for &short in &self.linked {
            if llvm!(core::LLVMGetFirstUse(short)).is_null() {
                llvm!(core::LLVMDeleteFunction(short));
            } else {
                left = true;
            }
        }
        left
    }
}
