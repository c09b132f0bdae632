//! LLVM's passes and code generator for one processor.

use super::Module;
use crate::error::take_error;
use crate::raw::{llvm, take_buffer, take_message};
use inkwell::llvm_sys::target_machine::*;
use std::ffi::CStr;
use std::ptr::null_mut;

/// A code generator. It belongs to no context.
pub(crate) struct Machine(LLVMTargetMachineRef);

impl Machine {
    /// Creates a code generator that optimizes, for a processor and its features (`+avx2,-bmi`).
    ///
    /// # Errors
    /// Returns one sentence if LLVM has none for the target.
    pub(crate) fn new(triple: &CStr, processor: &CStr, features: &CStr) -> Result<Machine, String> {
        let mut target = null_mut();
        let mut message = null_mut();
        if llvm!(target_machine::LLVMGetTargetFromTriple(
            triple.as_ptr(),
            &mut target,
            &mut message
        )) != 0
        {
            return Err(take_message(message));
        }
        let machine = llvm!(target_machine::LLVMCreateTargetMachine(
            target,
            triple.as_ptr(),
            processor.as_ptr(),
            features.as_ptr(),
            LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
            LLVMRelocMode::LLVMRelocDefault,
            LLVMCodeModel::LLVMCodeModelDefault
        ));
        match machine.is_null() {
            true => Err("LLVM has no code generator for this processor".into()),
            false => Ok(Machine(machine)),
        }
    }

    /// Gives a module the machine's triple and layout of data.
    pub(crate) fn adopt(&self, module: Module) {
        let triple = llvm!(target_machine::LLVMGetTargetMachineTriple(self.0));
        llvm!(core::LLVMSetTarget(module.raw(), triple));
        llvm!(core::LLVMDisposeMessage(triple));
        let layout = llvm!(target_machine::LLVMCreateTargetDataLayout(self.0));
        llvm!(target::LLVMSetModuleDataLayout(module.raw(), layout));
        llvm!(target::LLVMDisposeTargetData(layout));
    }

    /// Runs passes with the machine's costs, named as for `opt -passes=`.
    ///
    /// # Errors
    /// Returns LLVM's message.
    ///
    /// # Safety
    /// No handle of what the passes may remove is used afterwards.
    pub(crate) unsafe fn run_passes(&self, module: Module, passes: &CStr) -> Result<(), String> {
        run_passes(module, passes, self.0)
    }

    /// Generates the module as text of the assembler.
    ///
    /// # Errors
    /// Returns LLVM's message.
    ///
    /// # Safety
    /// No handle of the module's functions and instructions, which the code generator rewrites, is
    /// used afterwards.
    pub(crate) unsafe fn assembly(&self, module: Module) -> Result<Vec<u8>, String> {
        let mut message = null_mut();
        let mut buffer = null_mut();
        if llvm!(target_machine::LLVMTargetMachineEmitToMemoryBuffer(
            self.0,
            module.raw(),
            LLVMCodeGenFileType::LLVMAssemblyFile,
            &mut message,
            &mut buffer
        )) != 0
        {
            return Err(take_message(message));
        }
        Ok(take_buffer(buffer))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        llvm!(target_machine::LLVMDisposeTargetMachine(self.0));
    }
}

/// Runs passes, with a machine's costs if there is one.
pub(super) fn run_passes(
    module: Module,
    passes: &CStr,
    machine: LLVMTargetMachineRef,
) -> Result<(), String> {
    let options = llvm!(transforms::pass_builder::LLVMCreatePassBuilderOptions());
    let result = take_error(llvm!(transforms::pass_builder::LLVMRunPasses(
        module.raw(),
        passes.as_ptr(),
        machine,
        options
    )));
    llvm!(transforms::pass_builder::LLVMDisposePassBuilderOptions(
        options
    ));
    result
}
