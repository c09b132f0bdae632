//! Amount of the program's debug information in compiled code.
//!
//! Line tables are the default, because following variables through the code generator costs more
//! than a tenth of its time. Reading the tables back is left to `jit::lines`.

use super::pipeline::HostMachine;
use crate::handles::Module;

/// Debug information of compiled code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DebugLevel {
    /// Lines and inlined functions, for messages.
    #[default]
    Lines,
    /// All of the program's debug information, for a debugger.
    Full,
}

impl DebugLevel {
    /// Strips a module down to this amount.
    ///
    /// # Errors
    /// Returns LLVM's message.
    pub(super) fn apply(self, module: Module<'_>, machine: &HostMachine) -> Result<(), String> {
        match self {
            DebugLevel::Full => Ok(()),
            // Modules without debug information are left as they are.
            DebugLevel::Lines if module.debug_version() == 0 => Ok(()),
            DebugLevel::Lines => machine.run_passes(module, c"strip-nonlinetable-debuginfo"),
        }
    }
}
