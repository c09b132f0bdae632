//! How much of the program's debug information goes into compiled code.
//!
//! Why lines alone by default: following variables through the code generator costs more than a
//! tenth of its time (LU of the NAS benchmarks: 7 % of the instructions for lines, 12 % for all).
//! What not: reading it back is `jit::lines`' part.

use super::pipeline::Machine;
use crate::llvm::raw::llvm;
use inkwell::llvm_sys::prelude::*;

/// What describes compiled code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Debug {
    /// Lines and inlined functions, for messages.
    #[default]
    Lines,
    /// Everything the program's files hold, for a debugger.
    Full,
}

impl Debug {
    /// Leaves in a module what is asked for.
    ///
    /// # Errors
    /// LLVM's message.
    pub(super) fn apply(self, module: LLVMModuleRef, machine: &Machine) -> Result<(), String> {
        match self {
            Debug::Full => Ok(()),
            // Modules without debug information are left as they are.
            Debug::Lines if llvm!(debuginfo::LLVMGetModuleDebugMetadataVersion(module)) == 0 => {
                Ok(())
            }
            Debug::Lines => machine.run(module, c"strip-nonlinetable-debuginfo"),
        }
    }
}
