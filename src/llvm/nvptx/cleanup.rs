//! The last steps before code generation: removal of refused kernels, of stores to shared variables
//! that nothing reads, and of barriers before the end; small zeroing copies become stores.
//!
//! Most of it runs after inlining, since only then is a kernel's code in one function.

use super::Kernel;
use crate::handles::{
    Function, InlineAsm, Instruction, Linkage, Module, Opcode, Position, Store, Value, Variable,
};
use hashbrown::HashSet;

/// Removes refused kernels and debug information; source locations are known by now.
pub(super) fn remove(module: Module, kernels: &[Kernel]) {
    for kernel in kernels.iter().filter(|k| k.refused.is_some()) {
        if let Some(function) = module.function(&kernel.name) {
            // SAFETY: this step keeps no handle of the body, and no handles outlive a step.
            unsafe { function.drop_body() };
        }
    }
    module.strip_debug_info();
}

/// Returns the module's own variables in shared memory.
pub(super) fn shared_variables(module: Module) -> Vec<Variable> {
    module
        .variables()
        .filter(|v| {
            v.linkage() == Linkage::LLVMInternalLinkage && v.address_space() == super::SHARED
        })
        .collect()
}

/// Removes a kernel's stores to shared variables that neither it nor its callees read: state that
/// the runtime keeps for entries that this kernel does not use.
pub(crate) fn unread(module: Module) {
    let shared = shared_variables(module);
    for kernel in kernels(module) {
        let reached = reached(kernel);
        for &variable in &shared {
            for store in idle_stores(variable, kernel, &reached) {
                // SAFETY: stores have no result, and the list has each once.
                unsafe { store.erase() };
            }
        }
    }
}

fn kernels(module: Module) -> impl Iterator<Item = Function> {
    module
        .functions()
        .filter(|f| f.convention() == super::kernel_environment::KERNEL)
}

/// Returns the functions that a kernel may call, including itself; all functions if it calls
/// through a pointer.
pub(super) fn reached(kernel: Function) -> HashSet<Function> {
    let mut found = HashSet::new();
    let mut open = vec![kernel];
    while let Some(function) = open.pop() {
        if !found.insert(function) {
            continue;
        }
        for call in function.instructions().filter_map(|i| i.as_call()) {
            let assembly = call.called().as_inline_asm();
            match call.callee() {
                Some(callee) => open.push(callee),
                None if assembly.is_some_and(InlineAsm::keeps_to_operands) => {}
                None => return kernel.module().functions().collect(),
            }
        }
    }
    found
}

/// Returns the kernel's stores to a variable if nothing that it reaches uses the variable
/// otherwise.
fn idle_stores<'m>(
    variable: Variable<'m>,
    kernel: Function<'m>,
    reached: &HashSet<Function<'m>>,
) -> Vec<Store<'m>> {
    let mut stores = Vec::new();
    let mut open = vec![Value::from(variable)];
    while let Some(pointer) = open.pop() {
        for user in pointer.users() {
            let address = user.as_cast().is_some()
                || user.as_gep().is_some()
                || user.is_constant_expression();
            if address {
                open.push(user);
                continue;
            }
            let Some(instruction) = user.as_instruction() else {
                return Vec::new();
            };
            let function = instruction.function();
            if !reached.contains(&function) {
                continue;
            }
            match instruction.as_store() {
                Some(store) if store.pointer() == pointer && store.value() != pointer => {
                    if function == kernel {
                        stores.push(store);
                    }
                }
                _ => return Vec::new(),
            }
        }
    }
    stores
}

/// Largest memory block that is zeroed by single stores, in bytes.
const ZEROS: u64 = 512;

/// Expands small zeroing `memset` calls to stores of words: the code generator's loop goes by
/// bytes.
pub(crate) fn zeros(module: Module) {
    let context = module.context();
    let builder = context.builder();
    let calls: Vec<_> = module
        .functions()
        .flat_map(|f| f.instructions())
        .filter_map(|i| i.as_call())
        .filter(|call| {
            call.callee()
                .is_some_and(|f| f.name().starts_with("llvm.memset."))
        })
        .collect();
    for call in calls {
        let [to, value, size] = [0, 1, 2].map(|i| call.argument(i));
        let Some(size) = size.unsigned().filter(|_| value.is_zero()) else {
            continue;
        };
        let align = call
            .attribute_value(Position::Parameter(0), "align")
            .map_or(1, |align| align.clamp(1, 8));
        if size > ZEROS * align / 8 || !size.is_multiple_of(align) {
            continue;
        }
        let zero = context.int(8 * align as u32).zero();
        builder.before(call);
        for at in (0..size).step_by(align as usize) {
            let place = builder.offset(to, context.int(64).constant(at));
            builder.store(zero, place).set_alignment(align as u32);
        }
        // SAFETY: the call has no result, and the list has each call once.
        unsafe { call.erase() };
    }
}

/// Removes barriers after which a kernel ends without touching memory: the end is a barrier itself.
pub(crate) fn barriers(module: Module) {
    for kernel in kernels(module) {
        let idle: Vec<_> = kernel
            .instructions()
            .filter(|&i| is_barrier(i) && is_last(i))
            .collect();
        for barrier in idle {
            // SAFETY: barriers have no result, and the list has each once.
            unsafe { barrier.erase() };
        }
    }
}

pub(super) fn is_barrier(instruction: Instruction) -> bool {
    instruction.direct_callee().is_some_and(|f| {
        matches!(
            &*f.name(),
            "llvm.nvvm.barrier.cta.sync.aligned.all" | "llvm.nvvm.barrier.cta.sync.all"
        )
    })
}

/// Returns true if nothing but barriers touches memory after a barrier.
pub(crate) fn is_last(barrier: Instruction) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![barrier.next()];
    while let Some(first) = open.pop() {
        for at in std::iter::successors(first, |i| i.next()) {
            if touches_memory(at) && !is_barrier(at) {
                return false;
            }
            for block in at.successors() {
                if seen.insert(block) {
                    open.push(block.first());
                }
            }
        }
    }
    true
}

pub(super) fn touches_memory(instruction: Instruction) -> bool {
    use Opcode::*;
    match instruction.opcode() {
        LLVMLoad | LLVMStore | LLVMFence | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMVAArg => true,
        LLVMCall => !instruction.direct_callee().is_some_and(|f| {
            let name = f.name();
            name.starts_with("llvm.lifetime.")
                || name.starts_with("llvm.assume")
                || name.starts_with("llvm.nvvm.read.ptx.sreg.")
        }),
        _ => false,
    }
}
