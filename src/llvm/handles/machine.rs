//! Code generators.

use super::Module;
use crate::error::take_error;
use crate::raw::{llvm, take_buffer, take_message};
use inkwell::llvm_sys::target_machine::{
    LLVMCodeGenFileType, LLVMCodeGenOptLevel, LLVMCodeModel, LLVMRelocMode, LLVMTargetMachineRef,
};
use std::ffi::CStr;
use std::ptr::null_mut;

/// A code generator for one kind of processor. One thread at a time may use it.
pub(crate) struct TargetMachine(LLVMTargetMachineRef);

/// The processor and the form of code that a code generator is made for.
pub(crate) struct Target<'a> {
    pub(crate) triple: &'a CStr,
    pub(crate) processor: &'a CStr,
    /// Features beyond the processor's (`+NAME,-NAME`).
    pub(crate) features: &'a CStr,
    pub(crate) level: LLVMCodeGenOptLevel,
    pub(crate) relocation: LLVMRelocMode,
    pub(crate) code: LLVMCodeModel,
}

impl TargetMachine {
    /// Creates a code generator; `None` if LLVM has none for the processor.
    ///
    /// # Errors
    /// Returns LLVM's message if it does not know the target.
    pub(crate) fn new(of: &Target) -> Result<Option<TargetMachine>, String> {
        let mut target = null_mut();
        let mut message = null_mut();
        let failed = llvm!(target_machine::LLVMGetTargetFromTriple(
            of.triple.as_ptr(),
            &mut target,
            &mut message
        )) != 0;
        if failed {
            return Err(take_message(message));
        }
        let raw = llvm!(target_machine::LLVMCreateTargetMachine(
            target,
            of.triple.as_ptr(),
            of.processor.as_ptr(),
            of.features.as_ptr(),
            of.level,
            of.relocation,
            of.code
        ));
        Ok((!raw.is_null()).then_some(TargetMachine(raw)))
    }

    /// Creates a code generator for code in the low two gigabytes, or in any two if it is
    /// independent of its position.
    ///
    /// # Errors
    /// Returns one sentence if LLVM has none for the target.
    pub(crate) fn small(
        triple: &CStr,
        processor: &CStr,
        features: &CStr,
        position_independent: bool,
    ) -> Result<TargetMachine, String> {
        let machine = TargetMachine::new(&Target {
            triple,
            processor,
            features,
            level: LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            relocation: match position_independent {
                true => LLVMRelocMode::LLVMRelocPIC,
                false => LLVMRelocMode::LLVMRelocStatic,
            },
            code: LLVMCodeModel::LLVMCodeModelSmall,
        })?;
        machine.ok_or_else(|| "LLVM has no code generator for this processor".into())
    }

    /// Returns the pointer, for the C interface.
    pub(crate) fn raw(&self) -> LLVMTargetMachineRef {
        self.0
    }

    /// Gives a module the machine's triple and layout of data.
    pub(crate) fn adopt(&self, module: Module<'_>) {
        let triple = llvm!(target_machine::LLVMGetTargetMachineTriple(self.0));
        llvm!(core::LLVMSetTarget(module.raw(), triple));
        llvm!(core::LLVMDisposeMessage(triple));
        self.lay_out(module);
    }

    /// Gives a module the code generator's layout of data.
    pub(crate) fn lay_out(&self, module: Module<'_>) {
        let layout = llvm!(target_machine::LLVMCreateTargetDataLayout(self.0));
        llvm!(target::LLVMSetModuleDataLayout(module.raw(), layout));
        llvm!(target::LLVMDisposeTargetData(layout));
    }

    /// Generates the module as text of the assembler.
    ///
    /// # Errors
    /// Returns LLVM's message.
    ///
    /// # Safety
    /// No handle of the module's functions and instructions, which the code generator rewrites, is
    /// used afterwards.
    pub(crate) unsafe fn assembly(&self, module: Module<'_>) -> Result<Vec<u8>, String> {
        let mut message = null_mut();
        let mut buffer = null_mut();
        let failed = llvm!(target_machine::LLVMTargetMachineEmitToMemoryBuffer(
            self.0,
            module.raw(),
            LLVMCodeGenFileType::LLVMAssemblyFile,
            &mut message,
            &mut buffer
        )) != 0;
        if failed {
            return Err(take_message(message));
        }
        Ok(take_buffer(buffer))
    }

    /// Runs passes with the machine's costs, named as for `opt -passes=`.
    ///
    /// # Errors
    /// Returns LLVM's message.
    ///
    /// # Safety
    /// No handle of what the passes may remove is used afterwards.
    pub(crate) unsafe fn run_passes(
        &self,
        module: Module<'_>,
        passes: &CStr,
    ) -> Result<(), String> {
        run_passes(module, passes, self.0)
    }
}

impl Drop for TargetMachine {
    fn drop(&mut self) {
        llvm!(target_machine::LLVMDisposeTargetMachine(self.0));
    }
}

/// Returns the triple of this system.
pub(crate) fn host_triple() -> String {
    take_message(llvm!(target_machine::LLVMGetDefaultTargetTriple()))
}

/// Returns LLVM's name of this processor.
pub(crate) fn host_processor() -> String {
    take_message(llvm!(target_machine::LLVMGetHostCPUName()))
}

/// Returns which features this processor has and lacks (`+NAME,-NAME`).
pub(crate) fn host_features() -> String {
    take_message(llvm!(target_machine::LLVMGetHostCPUFeatures()))
}

/// Runs passes, with a machine's costs if there is one.
pub(super) fn run_passes(
    module: Module<'_>,
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
