//! The compiler's description of each kernel, in the constant `<kernel>_kernel_environment`.
//!
//! Its layout is that of LLVM 22's device runtime. [`super::specialize`] makes the execution mode a
//! constant of the runtime; the launch uses the limits and the size of reductions.

use super::Kernel;
use crate::handles::{Module, Value};
use omp_abi::limit;

/// The calling convention of kernels.
pub(super) const KERNEL: u32 = 71;

/// A kernel's configuration ([`omp_abi::KernelConfiguration`]) as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KernelEnvironment {
    /// Execution mode, bits of [`omp_abi::mode`].
    pub mode: u8,
    /// True if regions may nest.
    pub nested: bool,
    /// Minimum and maximum number of threads in a block; 0 or less: open.
    pub threads: (i32, i32),
    /// Minimum and maximum number of teams; 0 or less: open.
    pub teams: (i32, i32),
    /// Size of a team's contribution to a reduction over teams, in bytes.
    pub reduction_size: u32,
    /// Number of teams that the compiler expects in its buffer.
    pub reduction_length: u32,
}

impl KernelEnvironment {
    /// Returns true if all threads begin together.
    pub fn spmd(&self) -> bool {
        self.mode & omp_abi::mode::SPMD != 0
    }
}

/// Returns the kernels of a module.
pub(crate) fn read(module: Module) -> Vec<Kernel> {
    module
        .functions()
        .filter(|f| f.convention() == KERNEL && !f.is_declaration())
        .map(|f| {
            let name = f.name().into_string();
            Kernel {
                environment: environment(module, &name),
                parameters: f.parameter_count(),
                refused: None,
                any_grid: false,
                results: 0,
                division: None,
                name,
            }
        })
        .collect()
}

fn environment(module: Module, kernel: &str) -> Option<KernelEnvironment> {
    let variable = module.variable(&format!("{kernel}_kernel_environment"))?;
    let configuration = variable.initializer()?.element(0)?;
    let number = |index: u32| {
        let value = configuration.element(index).and_then(Value::signed)?;
        i32::try_from(value).ok()
    };
    Some(KernelEnvironment {
        nested: number(1)? != 0,
        mode: u8::try_from(number(2)?).ok()?,
        threads: (number(3)?, number(4)?),
        teams: (number(5)?, number(6)?),
        reduction_size: u32::try_from(number(7)?).ok()?,
        reduction_length: u32::try_from(number(8)?).ok()?,
    })
}

/// Raises the thread limit of kernels whose threads wait for regions: their blocks have a warp more
/// than their regions have threads, which the compiler's limit omits.
pub(super) fn make_room(module: Module, kernels: &[Kernel]) {
    const WARP: i32 = limit::WARP_SIZE as i32;
    const LIMIT: &str = "nvvm.maxntid";
    for kernel in kernels {
        let (Some(environment), Some(function)) =
            (kernel.environment, module.function(&kernel.name))
        else {
            continue;
        };
        if environment.spmd() || environment.threads.1 <= 0 {
            continue;
        }
        let threads = environment.threads.1 / WARP * WARP + 2 * WARP;
        let limit = threads.min(limit::BLOCK_THREADS as i32);
        function.set_text_attribute(LIMIT, &limit.to_string());
    }
}
