//! Enclosing synchronization: atomic updates and critical regions around a region's loops, for the
//! host schedule.
//!
//! Each thread executes them once, and the schedule does so for all ([`super::partition`]). That is
//! equivalent if the added value is the thread's share of a sum over iterations
//! ([`super::array_reduction`]): the schedule adds the whole sum once. So these operations become
//! plain ones: a load, an addition, a store.
//!
//! Other effects of each thread on memory, such as counting, are refused: the program would observe
//! how many threads there were.

use super::partition::LoopSection;
use super::schedule_builder::is_own;
use super::{Refusal, calls, device_names, kernel_sequence, refuse_at};
use crate::handles::{Alloca, AtomicOperation, Block, Function, Instruction, Opcode, Value};
use hashbrown::HashSet;

/// Prefix of the entries that begin a critical region; the one with a hint has a longer name.
const CRITICAL: &str = "__kmpc_critical";
const END: &str = "__kmpc_end_critical";

/// Rewrites these operations. Refuses critical regions with other effects.
pub(super) fn plain<'m>(
    function: Function<'m>,
    sections: &[LoopSection<'m>],
    sums: &HashSet<Alloca<'m>>,
) -> Result<(), Refusal> {
    let around = |i: Instruction<'m>| !sections.iter().any(|s| s.contains(i));
    for at in function.instructions() {
        if at.opcode() == Opcode::LLVMAtomicRMW && around(at) {
            update(at, sums);
        }
    }
    let (begins, ends): (Vec<_>, Vec<_>) = function
        .instructions()
        .filter(|&i| calls(i, CRITICAL) || calls(i, END))
        .partition(|&i| calls(i, CRITICAL));
    for &call in &begins {
        let odd = || refuse_at(device_names::reason(CRITICAL), call);
        let mut seen: HashSet<Block<'m>> = HashSet::new();
        let mut open = vec![call];
        while let Some(start) = open.pop() {
            let mut next = Some(start);
            while let Some(at) = next.filter(|&at| !calls(at, END)) {
                if !around(at) || !harmless(at, sums) {
                    return Err(odd());
                }
                let fresh = at.successors().filter(|&b| seen.insert(b));
                open.extend(fresh.filter_map(Block::first));
                next = at.next();
            }
        }
    }
    for call in begins.into_iter().chain(ends) {
        // SAFETY: these entries have no value, and the lists end here.
        unsafe { call.erase() };
    }
    Ok(())
}

/// Returns true if an instruction of a critical region has no effect but adding such a share.
fn harmless<'m>(at: Instruction<'m>, sums: &HashSet<Alloca<'m>>) -> bool {
    let mut written = kernel_sequence::accesses(at)
        .into_iter()
        .filter(|&(address, write)| write && !is_own(address));
    written.all(|(address, _)| {
        let reads = |value: Value<'m>| value.as_load().is_some_and(|l| l.pointer() == address);
        let Some(sum) = at.as_store().map(|s| s.value()) else {
            return false;
        };
        if !matches!(sum.opcode(), Some(Opcode::LLVMAdd | Opcode::LLVMFAdd)) {
            return false;
        }
        let (a, b) = (sum.operand(0), sum.operand(1));
        reads(a) && share(b, sums) || reads(b) && share(a, sums)
    })
}

/// Returns true if a value is a thread's share of a sum, or zero.
fn share<'m>(value: Value<'m>, sums: &HashSet<Alloca<'m>>) -> bool {
    use Opcode::*;
    let Some(instruction) = value.as_instruction() else {
        return false;
    };
    match instruction.opcode() {
        // Zero where the loop did not run.
        LLVMPHI => instruction.as_phi().is_some_and(|phi| {
            phi.incoming().all(|(part, _)| {
                let nothing = part.opcode().is_none() && part.is_zero();
                nothing || part.as_phi().is_none() && share(part, sums)
            })
        }),
        LLVMSExt | LLVMZExt | LLVMTrunc | LLVMSIToFP | LLVMUIToFP | LLVMFPExt | LLVMFPToSI
        | LLVMFPToUI => share(instruction.operand(0), sums),
        LLVMLoad => {
            let mut address = instruction.operand(0);
            while let Some(computed) = address.as_gep() {
                address = computed.pointer();
            }
            address.as_alloca().is_some_and(|a| sums.contains(&a))
        }
        _ => false,
    }
}

/// Turns an atomic addition of such a share into a plain one.
fn update<'m>(at: Instruction<'m>, sums: &HashSet<Alloca<'m>>) {
    let addition = match at.update() {
        Some(AtomicOperation::LLVMAtomicRMWBinOpAdd) => Opcode::LLVMAdd,
        Some(AtomicOperation::LLVMAtomicRMWBinOpFAdd) => Opcode::LLVMFAdd,
        _ => return,
    };
    let (address, value) = (at.operand(0), at.operand(1));
    if !at.is_unused() || !share(value, sums) {
        return;
    }
    let builder = value.of().context().builder();
    let old = builder.before(at).load(value.of(), address);
    builder.store(builder.binary(addition, old, value), address);
    // SAFETY: nothing uses its value, and the caller goes on with the next instruction.
    unsafe { at.erase() };
}
