//! LLVM's state of the process: its version, its options, its code generators.

use crate::raw::llvm;
use std::ffi::CStr;

/// Returns the version of the linked LLVM: major, minor, patch.
pub(crate) fn version() -> (u32, u32, u32) {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    llvm!(core::LLVMGetVersion(&mut major, &mut minor, &mut patch));
    (major, minor, patch)
}

/// Returns the version of debug information that the linked LLVM reads.
pub(crate) fn debug_version() -> u32 {
    llvm!(debuginfo::LLVMDebugMetadataVersion())
}

/// Sets options, given as on a command line without the program's name.
pub(crate) fn set_options(options: &[&CStr]) {
    let mut words = vec![c"ompvm".as_ptr()];
    words.extend(options.iter().map(|option| option.as_ptr()));
    llvm!(support::LLVMParseCommandLineOptions(
        words.len() as i32,
        words.as_ptr(),
        c"".as_ptr()
    ));
}

/// Registers the code generator for x86.
pub(crate) fn register_x86() {
    llvm!(target::LLVMInitializeX86TargetInfo());
    llvm!(target::LLVMInitializeX86Target());
    llvm!(target::LLVMInitializeX86TargetMC());
    llvm!(target::LLVMInitializeX86AsmPrinter());
    llvm!(target::LLVMInitializeX86AsmParser());
}

/// Registers the code generator for NVIDIA GPUs.
pub(crate) fn register_nvptx() {
    llvm!(target::LLVMInitializeNVPTXTargetInfo());
    llvm!(target::LLVMInitializeNVPTXTarget());
    llvm!(target::LLVMInitializeNVPTXTargetMC());
    llvm!(target::LLVMInitializeNVPTXAsmPrinter());
}

/// Sets the function that LLVM calls, with the reason, before it ends the process.
pub(crate) fn set_fatal_handler(handler: extern "C" fn(*const std::ffi::c_char)) {
    llvm!(error_handling::LLVMInstallFatalErrorHandler(Some(handler)));
}
