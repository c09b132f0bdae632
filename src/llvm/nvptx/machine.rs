//! LLVM's passes and code generator for one kind of GPU.
//!
//! Returns PTX as text. The driver, or NVIDIA's assembler in tests, makes machine code of it.

use crate::error::take_error;
use crate::raw::{llvm, take_buffer, take_message};
use inkwell::llvm_sys::LLVMAttributeFunctionIndex;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target_machine::*;
use std::ffi::{CStr, CString};
use std::ptr::null_mut;

const TRIPLE: &CStr = c"nvptx64-nvidia-cuda";

/// Passes over kernels, their functions and the runtime.
pub(super) const FULL: &CStr = c"default<O3>";

/// Passes to run after promotion has moved more variables to registers than [`FULL`] saw.
pub(super) const PROMOTED: &CStr = c"function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,\
simplifycfg<switch-to-lookup>,gvn,jump-threading,correlated-propagation,instcombine<no-verify-fixpoint>,\
simplifycfg,dse,loop-simplify,lcssa,loop-mssa(licm),adce,simplifycfg),globaldce";

pub(crate) struct GpuMachine {
    machine: LLVMTargetMachineRef,
    processor: CString,
}

impl Drop for GpuMachine {
    fn drop(&mut self) {
        llvm!(target_machine::LLVMDisposeTargetMachine(self.machine));
    }
}

impl GpuMachine {
    /// Creates the code generator for `sm_<architecture>` and PTX `<version>`.
    pub(crate) fn new(architecture: u32, version: u32) -> Result<GpuMachine, String> {
        let mut target = null_mut();
        let mut message = null_mut();
        if llvm!(target_machine::LLVMGetTargetFromTriple(
            TRIPLE.as_ptr(),
            &mut target,
            &mut message
        )) != 0
        {
            return Err(take_message(message));
        }
        let text = |text: String| CString::new(text).map_err(|e| e.to_string());
        let processor = text(format!("sm_{architecture}"))?;
        let features = text(format!("+ptx{version}"))?;
        let machine = llvm!(target_machine::LLVMCreateTargetMachine(
            target,
            TRIPLE.as_ptr(),
            processor.as_ptr(),
            features.as_ptr(),
            LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
            LLVMRelocMode::LLVMRelocDefault,
            LLVMCodeModel::LLVMCodeModelDefault
        ));
        if machine.is_null() {
            return Err("LLVM has no code generator for this GPU".into());
        }
        Ok(GpuMachine { machine, processor })
    }

    /// Gives a module and its functions this machine's target.
    pub(crate) fn adopt(&self, module: LLVMModuleRef) {
        llvm!(core::LLVMSetTarget(module, TRIPLE.as_ptr()));
        let layout = llvm!(target_machine::LLVMCreateTargetDataLayout(self.machine));
        llvm!(target::LLVMSetModuleDataLayout(module, layout));
        llvm!(target::LLVMDisposeTargetData(layout));
        let context = llvm!(core::LLVMGetModuleContext(module));
        let key = c"target-cpu";
        let processor = llvm!(core::LLVMCreateStringAttribute(
            context,
            key.as_ptr(),
            key.count_bytes() as u32,
            self.processor.as_ptr(),
            self.processor.count_bytes() as u32
        ));
        for function in super::functions(module) {
            let index = LLVMAttributeFunctionIndex;
            for name in [c"target-features", c"target-cpu"] {
                llvm!(core::LLVMRemoveStringAttributeAtIndex(
                    function,
                    index,
                    name.as_ptr(),
                    name.count_bytes() as u32
                ));
            }
            llvm!(core::LLVMAddAttributeAtIndex(function, index, processor));
        }
    }

    /// Runs passes, named as for `opt -passes=`.
    pub(super) fn run_passes(&self, module: LLVMModuleRef, passes: &CStr) -> Result<(), String> {
        run(module, passes, self.machine)
    }

    /// Widens induction variables to the width of the addresses computed from them.
    ///
    /// The pass runs without this machine's costs: told that 64-bit additions cost two, LLVM keeps
    /// the variables narrow, and each address costs a multiplication.
    pub(super) fn widen_counters(&self, module: LLVMModuleRef) -> Result<(), String> {
        run(module, c"function(loop(indvars))", null_mut())
    }

    /// Generates PTX for the module.
    pub(super) fn assembly(&self, module: LLVMModuleRef) -> Result<Vec<u8>, String> {
        let mut message = null_mut();
        let mut buffer = null_mut();
        if llvm!(target_machine::LLVMTargetMachineEmitToMemoryBuffer(
            self.machine,
            module,
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

fn run(module: LLVMModuleRef, passes: &CStr, machine: LLVMTargetMachineRef) -> Result<(), String> {
    let options = llvm!(transforms::pass_builder::LLVMCreatePassBuilderOptions());
    let result = take_error(llvm!(transforms::pass_builder::LLVMRunPasses(
        module,
        passes.as_ptr(),
        machine,
        options
    )));
    llvm!(transforms::pass_builder::LLVMDisposePassBuilderOptions(
        options
    ));
    result
}
