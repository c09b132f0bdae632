//! LLVM's passes and code generator for one kind of GPU.
//!
//! Returns PTX as text. The driver, or NVIDIA's assembler in tests, makes machine code of it.
//!
//! Passes are steps of the lowering: no handle of a function or an instruction outlives one.

use crate::handles::machine::Target;
use crate::handles::{Module, TargetMachine};
use inkwell::llvm_sys::target_machine::{LLVMCodeGenOptLevel, LLVMCodeModel, LLVMRelocMode};
use std::ffi::{CStr, CString};

const TRIPLE: &CStr = c"nvptx64-nvidia-cuda";

/// Passes over kernels, their functions and the runtime.
pub(super) const FULL: &CStr = c"default<O3>";

/// Passes to run after promotion has moved more variables to registers than [`FULL`] saw.
pub(super) const PROMOTED: &CStr = c"function(sroa,early-cse<memssa>,\
instcombine<no-verify-fixpoint>,simplifycfg<switch-to-lookup>,gvn,jump-threading,\
correlated-propagation,instcombine<no-verify-fixpoint>,simplifycfg,dse,loop-simplify,lcssa,loop-mssa(licm),adce,simplifycfg),globaldce";

pub(crate) struct GpuMachine {
    machine: TargetMachine,
    processor: String,
}

impl GpuMachine {
    /// Creates the code generator for `sm_<architecture>` and PTX `<version>`.
    pub(crate) fn new(architecture: u32, version: u32) -> Result<GpuMachine, String> {
        let text = |text: &str| CString::new(text).map_err(|e| e.to_string());
        let processor = format!("sm_{architecture}");
        let features = text(&format!("+ptx{version}"))?;
        let machine = TargetMachine::new(&Target {
            triple: TRIPLE,
            processor: &text(&processor)?,
            features: &features,
            level: LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
            relocation: LLVMRelocMode::LLVMRelocDefault,
            code: LLVMCodeModel::LLVMCodeModelDefault,
        })?;
        let machine = machine.ok_or("LLVM has no code generator for this GPU")?;
        Ok(GpuMachine { machine, processor })
    }

    /// Gives a module and its functions this machine's target.
    pub(crate) fn adopt(&self, module: Module) {
        self.machine.adopt(module);
        for function in module.functions() {
            function.remove_text_attribute("target-features");
            function.set_text_attribute("target-cpu", &self.processor);
        }
    }

    /// Runs passes, named as for `opt -passes=`.
    pub(super) fn run_passes(&self, module: Module, passes: &CStr) -> Result<(), String> {
        // SAFETY: no handle of what the passes remove outlives a step.
        unsafe { self.machine.run_passes(module, passes) }
    }

    /// Generates PTX for the module.
    pub(super) fn assembly(&self, module: Module) -> Result<Vec<u8>, String> {
        // SAFETY: generation is the last step, and no handle of the module outlives it.
        unsafe { self.machine.assembly(module) }
    }
}

/// Widens induction variables to the width of the addresses computed from them.
///
/// The pass runs without a machine's costs: told that 64-bit additions cost two, LLVM keeps the
/// variables narrow, and each address costs a multiplication.
pub(super) fn widen_counters(module: Module) -> Result<(), String> {
    // SAFETY: no handle of what the pass removes outlives a step.
    unsafe { module.run_passes(c"function(loop(indvars))") }
}
