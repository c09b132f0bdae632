//! Kernel sequences: several loops in one region, as kernels one after the other.
//!
//! Each kernel runs the region for the iterations of one of its loops, while the others have none.
//! All kernels run the code around the loops, for each iteration.
//!
//! This is sound because the end of a kernel implies the barrier between two loops, and code
//! outside of the loops may run any number of times. So three things are refused: writing memory
//! outside of the loops, reading memory there that a loop changes, and using a value in one loop
//! that a thread computed in another.

use super::accesses::{AccessAnalysis, Source};
use super::loops::Loop;
use super::runtime_calls::PREFIX;
use super::{Refusal, refuse_at};
use crate::handles::{Alloca, Function, Instruction, Opcode, Value};
use hashbrown::{HashMap, HashSet};

/// An access: its address, and true for a write.
pub(super) type Access<'m> = (Value<'m>, bool);

/// Refuses regions that kernels one after the other would run differently.
pub(super) fn check<'m>(
    look: &AccessAnalysis<'m>,
    function: Function<'m>,
    loops: &[Loop<'m>],
) -> Result<(), Refusal> {
    let owner = |i| loops.iter().position(|l| l.contains(i));
    // Private variables that each loop writes, or that depend on its values.
    let mut written: Vec<HashSet<Alloca<'m>>> = vec![HashSet::new(); loops.len()];
    for instruction in function.instructions() {
        for (address, write) in accesses(instruction) {
            let at = owner(instruction);
            for (source, _) in look.sources(address, instruction)? {
                if source == Source::Private {
                    continue;
                }
                if at.is_none() && write {
                    return Err(refuse_at(
                        "memory is written around its loops, once for each thread",
                        instruction,
                    ));
                }
                if at.is_none() && look.changes(&source) {
                    return Err(refuse_at(
                        "memory that a loop changes is read around its loops",
                        instruction,
                    ));
                }
            }
            if let (Some(at), true) = (at, write) {
                written[at].extend(variables(address));
            }
        }
    }
    for (at, written) in written.iter_mut().enumerate() {
        computed(function, &owner, at, written)?;
    }
    for instruction in function.instructions() {
        let Some(at) = owner(instruction) else {
            continue;
        };
        let touched = accesses(instruction);
        for variable in touched.iter().flat_map(|&(address, _)| variables(address)) {
            let elsewhere = |other: usize| other != at && written[other].contains(&variable);
            if (0..loops.len()).any(elsewhere) {
                return Err(between(instruction));
            }
        }
    }
    Ok(())
}

/// Returns the refusal for a use of a value that another loop computes.
pub(super) fn between<'m>(at: impl Into<Value<'m>>) -> Refusal {
    refuse_at(
        "a loop uses a value that its thread computed in another",
        at,
    )
}

/// Follows the values that a loop computes. Refuses their use in another loop, and adds variables
/// that hold them to `written`.
fn computed<'m>(
    function: Function<'m>,
    owner: &dyn Fn(Instruction<'m>) -> Option<usize>,
    at: usize,
    written: &mut HashSet<Alloca<'m>>,
) -> Result<(), Refusal> {
    let mut seen: HashSet<Instruction<'m>> = HashSet::new();
    let mut open: Vec<Instruction<'m>> = function
        .instructions()
        .filter(|&i| owner(i) == Some(at))
        .collect();
    let mut loads: HashMap<Alloca<'m>, Vec<Instruction<'m>>> = HashMap::new();
    for load in function.instructions().filter(|&i| owner(i).is_none()) {
        for (address, write) in accesses(load) {
            for variable in variables(address).into_iter().filter(|_| !write) {
                loads.entry(variable).or_default().push(load);
            }
        }
    }
    let mut known: HashSet<Alloca<'m>> = HashSet::new();
    loop {
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            for user in value.users().filter_map(Value::as_instruction) {
                match owner(user) {
                    Some(other) if other == at => continue,
                    Some(_) => return Err(between(user)),
                    None => {}
                }
                for (address, write) in accesses(user) {
                    if write {
                        written.extend(variables(address));
                    }
                }
                if user.is_terminator() {
                    return Err(refuse_at(
                        "control flow after a loop depends on a value that a thread computed in it",
                        user,
                    ));
                }
                open.push(user);
            }
        }
        // Loads of such variables around the loops, in the function's order.
        let variables = function.instructions().filter_map(|i| i.as_alloca());
        for variable in variables {
            if written.contains(&variable) && known.insert(variable) {
                open.extend(loads.get(&variable).into_iter().flatten());
            }
        }
        if open.is_empty() {
            return Ok(());
        }
    }
}

/// Returns the memory accesses of an instruction, except for calls that begin and end loops.
pub(super) fn accesses<'m>(instruction: Instruction<'m>) -> Vec<Access<'m>> {
    use Opcode::*;
    match instruction.opcode() {
        LLVMLoad => vec![(instruction.operand(0), false)],
        LLVMStore => vec![(instruction.operand(1), true)],
        LLVMAtomicRMW | LLVMAtomicCmpXchg => vec![(instruction.operand(0), true)],
        LLVMCall => {
            let callee = instruction.as_call().and_then(|c| Some((c, c.callee()?)));
            let Some((call, callee)) = callee else {
                return Vec::new();
            };
            let name = callee.name();
            if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
                return vec![(call.argument(0), true), (call.argument(1), false)];
            }
            if name.starts_with("llvm.memset.") {
                return vec![(call.argument(0), true)];
            }
            if name.starts_with("llvm.") || name.starts_with(PREFIX) || name.starts_with("__kmpc_")
            {
                return Vec::new();
            }
            let pointers = call.arguments().filter(|a| a.of().is_pointer());
            pointers.map(|p| (p, true)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the private variables that an address may point into.
pub(super) fn variables(address: Value<'_>) -> Vec<Alloca<'_>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![address];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        match derived_from(value) {
            Some(pointers) => open.extend(pointers),
            None => found.extend(value.as_alloca()),
        }
    }
    found
}

/// Returns the pointers that a pointer is chosen from or computed from; `None` for those that do
/// not depend on others.
pub(super) fn derived_from(pointer: Value<'_>) -> Option<Vec<Value<'_>>> {
    let instruction = pointer.as_instruction()?;
    match instruction.opcode() {
        Opcode::LLVMPHI => {
            let incoming = instruction.as_phi()?.incoming();
            Some(incoming.map(|(value, _)| value).collect())
        }
        Opcode::LLVMSelect => Some(vec![instruction.operand(1), instruction.operand(2)]),
        Opcode::LLVMGetElementPtr | Opcode::LLVMFreeze => Some(vec![instruction.operand(0)]),
        _ => None,
    }
}
