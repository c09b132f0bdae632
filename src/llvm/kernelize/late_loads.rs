//! Moves loads of private arrays behind the loop that adds to them.
//!
//! A compiler may read such an array at the end of the loop, and merge what it has read with zero
//! for a loop without iterations. Then [`super::array_reduction`] would see a loop that inspects
//! its array. The load is as good behind the merge, if the array is zeroed where the loop did not
//! run.

use super::runtime_calls::STATIC_FINI;
use super::{callee_name, calls, kernel_sequence, partition, private_variables};
use crate::handles::{Block, Function, Instruction, Load, Module, Phi, Value};
use crate::shim;
use hashbrown::HashSet;

/// Moves loads of such arrays after the loop's end.
pub(super) fn read_behind<'m>(module: Module<'m>, function: Function<'m>) {
    let joins: Vec<Phi<'m>> = function.instructions().filter_map(|i| i.as_phi()).collect();
    for join in joins {
        let arms: Vec<(Value<'m>, Block<'m>)> = join.incoming().collect();
        if let Some(load) = same_place(module, function, &arms) {
            read_again(join, load);
        }
    }
}

/// Returns one of the loads that are merged with zeros, if all would read the same value after the
/// merge.
fn same_place<'m>(
    module: Module<'m>,
    function: Function<'m>,
    arms: &[(Value<'m>, Block<'m>)],
) -> Option<Load<'m>> {
    let load = arms.iter().find_map(|(value, _)| value.as_load())?;
    let place = |load: Load<'m>| shim::constant_offset(module, load.pointer());
    let (base, offset) = place(load);
    let array = base.as_alloca()?;
    if load.is_volatile() || array.count().signed() != Some(1) {
        return None;
    }
    let size = module.layout().size(array.allocated());
    let writes = |i: Instruction<'m>| {
        kernel_sequence::accesses(i)
            .iter()
            .any(|&(to, write)| write && kernel_sequence::variables(to).contains(&array))
    };
    let clears = |i: Instruction<'m>| {
        calls(i, "llvm.memset.")
            && i.operand(0) == base
            && i.operand(1).unsigned() == Some(0)
            && i.operand(2).unsigned() == Some(size)
    };
    // If its address escapes, it may be written elsewhere.
    let known = private_variables::is_seen(module, array);
    let (cleared, written): (Vec<_>, Vec<_>) = function
        .instructions()
        .filter(|&i| writes(i))
        .partition(|&i| clears(i));
    let walls: HashSet<Block<'m>> = cleared.into_iter().map(Instruction::block).collect();
    let from: Vec<Block<'m>> = written.into_iter().map(Instruction::block).collect();
    let changed = partition::reached(&from, &|b| walls.contains(&b));
    let fine = |&(value, edge): &(Value<'m>, Block<'m>)| {
        if let Some(load) = value.as_load() {
            return load.block() == edge
                && place(load) == (base, offset)
                && !load.following().any(writes);
        }
        let zero = value.as_instruction().is_none() && value.is_zero();
        zero && !changed.contains(&edge) && !from.contains(&edge)
    };
    (known && arms.iter().all(fine)).then_some(load)
}

/// Replaces the merged value by a load after the loop's end.
fn read_again<'m>(join: Phi<'m>, load: Load<'m>) {
    let mut behind = Instruction::from(join);
    for at in join.following() {
        let ends = callee_name(at).is_some_and(|n| *n == *STATIC_FINI);
        if ends || at.as_phi().is_some() {
            behind = at;
        }
    }
    let used: HashSet<Value<'m>> = join.users().collect();
    let mut between = join.following().take_while(|&at| at != behind);
    if behind != join.into() && between.any(|at| used.contains(&Value::from(at))) {
        return;
    }
    let Some(next) = behind.next() else { return };
    let builder = join.of().context().builder();
    builder.before(next);
    let mut address = load.pointer();
    if let Some(computed) = address.as_gep() {
        // The address may not be available here.
        address = builder.copy(computed).into();
    }
    join.replace_by(builder.load(join.of(), address));
    // SAFETY: the load has replaced its value, and the caller goes on with the next one.
    unsafe { join.erase() };
}
