//! Regions whose code around the loops runs on the host, as a schedule between kernels.
//!
//! Each loop, with the reduction at its end, becomes a function of its own. The rest of the region,
//! which becomes the host schedule ([`schedule_builder`]), is what one thread does between the
//! loops: enclosing sequential loops, values that every thread computes alike, parts for one
//! thread, barriers.
//!
//! This is sound because a team of one thread would do the same, and a program may get such a team.
//! So private values must agree between threads: a value that a loop computes is not used after it,
//! and a private variable that a loop writes is not read after it or in the loop's next run. Arrays
//! that loops only add to are an exception ([`super::array_reduction`]), and may be added to memory
//! ([`super::enclosing_sync`]). Values computed earlier are passed to a loop with its launch.
//!
//! A dependence between two loops on one thread without a barrier is satisfied by the order of the
//! kernels. Regions of one loop without code around it need none of this ([`super::kernel_text`]).
//!
//! [`private_variables`] checks the variables, and [`loop_functions`] makes the loops' functions.

use super::host_schedule::HostSchedule;
use super::kernel_sequence::between;
use super::loop_functions::{self, LoopFunction};
use super::runtime_calls::{PREFIX, Reduction, STATIC_FINI};
use super::schedule_builder::{self, LaunchSite};
use super::{Refusal, array_reduction, callee_name, calls, enclosing_sync, late_loads};
use super::{private_variables, refuse, refuse_at};
use crate::handles::{Alloca, Block, Call, Function, Instruction, Module, Opcode, Value};
use crate::shim;
use hashbrown::HashSet;

type Blocks<'m> = HashSet<Block<'m>>;

/// Marker for the start of a `single` or `masked` construct, set by [`super::runtime_calls`].
pub(super) const ONE: &str = "__ompvm_outlined_one";

/// The blocks of a loop.
pub(super) struct LoopSection<'m> {
    pub entry: Block<'m>,
    blocks: Blocks<'m>,
    /// The block after the loop.
    pub after: Block<'m>,
}

impl<'m> LoopSection<'m> {
    pub fn contains(&self, instruction: Instruction<'m>) -> bool {
        self.blocks.contains(&instruction.block())
    }

    /// Iterates over the blocks in the function's order, so that outputs are always the same.
    fn blocks(&self) -> impl Iterator<Item = Block<'m>> {
        let all = self.entry.function().blocks();
        all.filter(|b| self.blocks.contains(b))
    }

    /// Returns the call that begins the loop's reduction.
    pub fn reduction(&self) -> Option<Call<'m>> {
        let begins = format!("{PREFIX}reduce.");
        self.entry
            .function()
            .instructions()
            .find(|&i| self.contains(i) && calls(i, &begins))?
            .as_call()
    }
}

/// Splits a region's function into loops and host schedule.
///
/// # Safety
/// No handle of the function's blocks and instructions is used afterwards.
pub(super) unsafe fn partition<'m>(
    module: Module<'m>,
    function: Function<'m>,
    reductions: &mut Vec<Reduction<'m>>,
) -> Result<(Vec<LoopFunction<'m>>, HostSchedule), Refusal> {
    late_loads::read_behind(module, function);
    // SAFETY: neither the caller nor this function keeps an instruction.
    unsafe { function.run_passes(c"adce") }.map_err(refuse)?;
    let mut sections = sections_of(function)?;
    for section in &sections {
        values(section)?;
    }
    let placed = array_reduction::place(module, function, &sections, reductions);
    let mut shared = placed.shared;
    if !shared.is_empty() {
        sections = sections_of(function)?;
        for section in &sections {
            values(section)?;
        }
    }
    enclosing_sync::plain(function, &sections, &shared)?;
    private_variables::check(module, function, &sections, &shared)
        .map_err(|refusal| placed.hint.unwrap_or(refusal))?;
    let mut parts = Vec::new();
    let mut launched = Vec::new();
    for section in &sections {
        let mut blocks = vec![section.entry];
        blocks.extend(section.blocks().filter(|&b| b != section.entry));
        // SAFETY: `sections` holds blocks only, and `shared` variables.
        let inner = unsafe { shim::outline_blocks(&blocks) }
            .ok_or_else(|| refuse("its loop cannot be outlined"))?;
        let phase = parts.len() as u32;
        let (part, launch) =
            loop_functions::part(module, function, inner, phase, reductions, &shared)?;
        parts.push(part);
        launched.push(launch);
    }
    simplify(module, function, &mut launched, &mut shared)?;
    let schedule = schedule_builder::build(module, function, &launched, &shared)?;
    for launch in launched {
        let inner = launch.call.callee();
        // SAFETY: the call has no value, and neither it nor the loop's code is used from here on.
        unsafe {
            launch.call.erase();
            if let Some(inner) = inner {
                inner.drop_body();
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe { function.drop_body() };
    Ok((parts, schedule))
}

/// Simplifies the code around the loops, whose `single` and `masked` constructs the schedule's
/// thread executes. Adjusts launches and variables to what passes replace.
fn simplify<'m>(
    module: Module<'m>,
    function: Function<'m>,
    launched: &mut [LaunchSite<'m>],
    shared: &mut HashSet<Alloca<'m>>,
) -> Result<(), Refusal> {
    for mark in marks(function, ONE) {
        mark.replace_by(mark.of().constant(1));
        // SAFETY: the number has replaced its value, and the list is not used again.
        unsafe { mark.erase() };
    }
    // A call beside each launch holds its values: passes replace them there.
    let context = module.context();
    let builder = context.builder();
    let mut holders = Vec::new();
    for launch in launched.iter_mut() {
        let values: Vec<Value<'m>> = launch.values().map(|v| *v).collect();
        let types: Vec<_> = values.iter().map(|v| v.of()).collect();
        let name = format!("{PREFIX}values.{}", launch.phase);
        let holder = module.add_function(&name, context.void().function(&types));
        builder.before(launch.call).call(holder, &values);
        holders.push((holder, launch.call.callee()));
    }
    let passes = c"scalarizer<load-store>,simplifycfg,adce";
    // SAFETY: the launches are found again by what they call, and their values by the holders.
    unsafe { function.run_passes(passes) }.map_err(refuse)?;
    let left: HashSet<_> = function
        .instructions()
        .filter_map(|i| i.as_alloca())
        .collect();
    shared.retain(|variable| left.contains(variable));
    for (launch, (holder, inner)) in launched.iter_mut().zip(holders) {
        let [holds, call] = [Some(holder), inner].map(|f| {
            let mut calls = f?.users().filter_map(Value::as_call);
            calls.next().filter(|_| calls.next().is_none())
        });
        let (Some(holds), Some(call)) = (holds, call) else {
            return Err(refuse("its loop was duplicated or removed by the compiler"));
        };
        for (value, now) in launch.values().zip(holds.arguments()) {
            *value = now;
        }
        launch.call = call;
        // SAFETY: the call has no value, it is the only one, and both handles end here.
        unsafe {
            holds.erase();
            holder.delete();
        }
    }
    Ok(())
}

pub(super) fn marks<'m>(function: Function<'m>, name: &str) -> Vec<Instruction<'m>> {
    function
        .instructions()
        .filter(|&i| callee_name(i).is_some_and(|n| *n == *name))
        .collect()
}

/// Finds the loops, and splits blocks so that each loop begins a block and continues at a block of
/// its own.
fn sections_of(function: Function<'_>) -> Result<Vec<LoopSection<'_>>, Refusal> {
    let begins = marks(function, &format!("{PREFIX}at"));
    let mut numbers: Vec<_> = begins.iter().map(|m| m.operand(1).signed()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() < begins.len() {
        return Err(refuse("its loop was duplicated by the compiler"));
    }
    let entries: Vec<_> = begins.into_iter().map(shim::split_before).collect();
    for end in marks(function, STATIC_FINI) {
        end.next().map(shim::split_before);
    }
    let section = |&entry| section(function, entry, &entries);
    entries.iter().map(section).collect()
}

/// Returns the blocks reachable from these by at least one edge; paths end at `walls`.
pub(super) fn reached<'m>(from: &[Block<'m>], walls: &dyn Fn(Block<'m>) -> bool) -> Blocks<'m> {
    let mut found = Blocks::new();
    let mut open = from.to_vec();
    while let Some(block) = open.pop() {
        let next = block.successors();
        open.extend(next.filter(|&b| !walls(b) && found.insert(b)));
    }
    found
}

fn section<'m>(
    function: Function<'m>,
    entry: Block<'m>,
    entries: &[Block<'m>],
) -> Result<LoopSection<'m>, Refusal> {
    let mut ahead = reached(&[entry], &|b| entries.contains(&b));
    ahead.insert(entry);
    let (fetched, reduces) = (format!("{PREFIX}fetched_"), format!("{PREFIX}reduce."));
    let ends: Vec<Instruction<'m>> = function
        .instructions()
        .filter(|i| ahead.contains(&i.block()))
        .filter(|&i| {
            callee_name(i).is_some_and(|n| {
                *n == *STATIC_FINI || n.starts_with(&*fetched) || n.starts_with(&*reduces)
            })
        })
        .collect();
    let last: Blocks<'m> = ends.iter().map(|e| e.block()).collect();
    let refused = |reason| match ends.first() {
        Some(&end) => refuse_at(reason, end),
        None => refuse(reason),
    };
    let unclear =
        || refused("control flow after a loop depends on a value that a thread computed in it");
    let after = behind(function, &last)
        .into_iter()
        .find(|&b| reached(&[b], &|n| entries.contains(&n)).is_disjoint(&last))
        .ok_or_else(unclear)?;
    let mut blocks = reached(&[entry], &|b| b == after);
    blocks.insert(entry);
    if entries.iter().any(|&e| e != entry && blocks.contains(&e)) {
        return Err(refused("nested worksharing loops"));
    }
    let leaving: Vec<Block<'m>> = function
        .blocks()
        .filter(|b| blocks.contains(b) && b.successors().any(|n| n == after))
        .collect();
    let after = shim::merge_predecessors(after, &leaving);
    for at in function.blocks() {
        // The loop is neither entered elsewhere nor nested in itself.
        let odd = |n: Block<'m>| match blocks.contains(&at) {
            true => n == entry,
            false => n != entry && blocks.contains(&n),
        };
        if at.successors().any(odd) {
            return Err(unclear());
        }
    }
    Ok(LoopSection {
        entry,
        blocks,
        after,
    })
}

/// Returns the blocks that post-dominate all of these, nearest first.
fn behind<'m>(function: Function<'m>, from: &Blocks<'m>) -> Vec<Block<'m>> {
    let leaves = |b: &Block<'m>| {
        b.terminator()
            .is_some_and(|end| end.opcode() == Opcode::LLVMRet)
    };
    let starts: Vec<Block<'m>> = from.iter().copied().collect();
    let reachable = reached(&starts, &|_| false);
    let mut found: Vec<(usize, Block<'m>)> = Vec::new();
    for candidate in function.blocks().filter(|b| reachable.contains(b)) {
        if from.contains(&candidate) {
            continue;
        }
        let without = reached(&starts, &|b| b == candidate);
        if !without.iter().any(leaves) && !from.iter().any(leaves) {
            found.push((without.len(), candidate));
        }
    }
    found.sort_by_key(|f| f.0);
    found.into_iter().map(|f| f.1).collect()
}

/// Refuses values that a loop computes and the schedule or another loop uses.
fn values<'m>(section: &LoopSection<'m>) -> Result<(), Refusal> {
    let inside = |v: Value<'m>| {
        v.as_instruction()
            .is_some_and(|i| section.blocks.contains(&i.block()))
    };
    for phi in section.after.phis().collect::<Vec<_>>() {
        let incoming: HashSet<Value<'m>> = phi.incoming().map(|(value, _)| value).collect();
        match incoming.iter().next() {
            Some(&only) if incoming.len() == 1 && !inside(only) => phi.replace_by(only),
            _ => {
                if let Some(user) = phi.users().next() {
                    return Err(between(user));
                }
            }
        }
        // SAFETY: nothing uses its value now, and the list is not used again.
        unsafe { phi.erase() };
    }
    for at in section.blocks().flat_map(Block::instructions) {
        if callee_name(at).is_some_and(|n| *n == *ONE) {
            return Err(refuse_at("a `single` or `masked` construct in a loop", at));
        }
        if let Some(user) = at.users().find(|&u| !inside(u)) {
            return Err(between(user));
        }
    }
    Ok(())
}
