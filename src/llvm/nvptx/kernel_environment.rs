//! The compiler's description of each kernel, in the constant `<kernel>_kernel_environment`.
//!
//! Its layout is that of LLVM 22's device runtime. [`super::specialize`] makes the execution mode a
//! constant of the runtime; the launch uses the limits and the size of reductions.

use super::{Kernel, functions};
use crate::raw::llvm;
use crate::reader::name_of;
use inkwell::llvm_sys::LLVMAttributeFunctionIndex;
use inkwell::llvm_sys::prelude::*;

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
pub(crate) fn read(module: LLVMModuleRef) -> Vec<Kernel> {
    functions(module)
        .filter(|&f| {
            llvm!(core::LLVMGetFunctionCallConv(f)) == KERNEL
                && llvm!(core::LLVMIsDeclaration(f)) == 0
        })
        .map(|f| {
            let name = name_of(f).into_string();
            Kernel {
                environment: environment(module, &name),
                parameters: llvm!(core::LLVMCountParams(f)),
                refused: None,
                any_grid: false,
                name,
            }
        })
        .collect()
}

fn environment(module: LLVMModuleRef, kernel: &str) -> Option<KernelEnvironment> {
    let name = format!("{kernel}_kernel_environment");
    let variable = llvm!(core::LLVMGetNamedGlobalWithLength(
        module,
        name.as_ptr().cast(),
        name.len()
    ));
    if variable.is_null() {
        return None;
    }
    let whole = llvm!(core::LLVMGetInitializer(variable));
    if whole.is_null() {
        return None;
    }
    let member = |value: LLVMValueRef, index: u32| {
        let member = llvm!(core::LLVMGetAggregateElement(value, index));
        (!member.is_null()).then_some(member)
    };
    let configuration = member(whole, 0)?;
    let number = |index: u32| {
        let value = member(configuration, index)?;
        if llvm!(core::LLVMIsAConstantInt(value)).is_null() {
            return None;
        }
        i32::try_from(llvm!(core::LLVMConstIntGetSExtValue(value))).ok()
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
pub(super) fn make_room(module: LLVMModuleRef, kernels: &[Kernel]) {
    const WARP: i32 = omp_abi::limit::WARP_SIZE as i32;
    const LIMIT: &std::ffi::CStr = c"nvvm.maxntid";
    let context = llvm!(core::LLVMGetModuleContext(module));
    for kernel in kernels {
        let (Some(environment), Some(function)) =
            (kernel.environment, super::function(module, &kernel.name))
        else {
            continue;
        };
        if environment.spmd() || environment.threads.1 <= 0 {
            continue;
        }
        let limit = (environment.threads.1 / WARP * WARP + 2 * WARP)
            .min(omp_abi::limit::BLOCK_THREADS as i32)
            .to_string();
        let attribute = llvm!(core::LLVMCreateStringAttribute(
            context,
            LIMIT.as_ptr(),
            LIMIT.count_bytes() as u32,
            limit.as_ptr().cast(),
            limit.len() as u32
        ));
        let index = LLVMAttributeFunctionIndex;
        llvm!(core::LLVMAddAttributeAtIndex(function, index, attribute));
    }
}
