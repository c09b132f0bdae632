//! Check of the private variables around a region's loops, for the host schedule.
//!
//! A loop must not pass a value to later code through a private variable, since each thread would
//! have another one ([`super::partition`]). So a variable that a loop writes is not read after it
//! or in the loop's next run, unless it is overwritten before. Variables whose address escapes from
//! a loop are refused.

use super::kernel_sequence::between;
use super::partition::{LoopSection, reached};
use super::runtime_calls::PREFIX;
use super::{Refusal, callee_name, calls, refuse, refuse_at};
use crate::handles::{Alloca, Block, Function, Instruction, Module, Opcode, Value};
use crate::shim;
use hashbrown::HashSet;

/// An access to a private variable.
pub(super) struct VariableAccess<'m> {
    pub at: Instruction<'m>,
    pub read: bool,
    pub write: bool,
    /// True if the access overwrites all of the variable.
    anew: bool,
    /// True if the access stores an address.
    address: bool,
}

/// Returns all accesses to a private variable; `None` if its address escapes.
pub(super) fn accesses_to<'m>(
    module: Module<'m>,
    variable: Alloca<'m>,
) -> Option<Vec<VariableAccess<'m>>> {
    use Opcode::*;
    let size = |of| module.layout().size(of);
    let whole = size(variable.allocated());
    let single = variable.count().signed() == Some(1);
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut open: Vec<Value<'m>> = vec![variable.into()];
    while let Some(pointer) = open.pop() {
        let start = single && pointer == variable.into();
        for at in pointer.users() {
            let at = at.as_instruction()?;
            let mut touch = |read, write, anew, address| {
                found.push(VariableAccess {
                    at,
                    read,
                    write,
                    anew,
                    address,
                });
            };
            match at.opcode() {
                LLVMGetElementPtr | LLVMPHI | LLVMSelect | LLVMFreeze => {
                    if seen.insert(at) {
                        open.push(at.into());
                    }
                }
                LLVMLoad => touch(true, false, false, false),
                LLVMStore if at.operand(0) == pointer => {
                    // An entry in the list of a reduction's copies.
                    shim::constant_offset(module, at.operand(1)).0.as_alloca()?;
                    touch(true, true, false, false);
                }
                LLVMStore => {
                    let of = at.operand(0).of();
                    touch(false, true, start && size(of) >= whole, of.is_pointer());
                }
                LLVMICmp => {}
                LLVMCall => {
                    let name = callee_name(at)?;
                    if name.starts_with("llvm.lifetime.start") {
                        touch(false, false, true, false);
                    } else if name.starts_with("llvm.lifetime.")
                        || name.starts_with("llvm.assume")
                        || name.starts_with("llvm.dbg.")
                    {
                    } else if name.starts_with("llvm.memset.") {
                        let all = start && at.operand(2).unsigned() == Some(whole);
                        touch(false, true, all, false);
                    } else if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.")
                    {
                        let (to, from) = (at.operand(0), at.operand(1));
                        touch(from == pointer, to == pointer, false, false);
                    } else {
                        touch(true, true, false, false);
                    }
                }
                _ => return None,
            }
        }
    }
    Some(found)
}

/// Returns true if all accesses to a private variable are known.
pub(super) fn is_seen<'m>(module: Module<'m>, variable: Alloca<'m>) -> bool {
    accesses_to(module, variable).is_some()
}

/// Returns true if the variable is the list of a reduction's copies, which is filled in before each
/// use.
fn is_list(variable: Alloca<'_>) -> bool {
    let begins = format!("{PREFIX}reduce.");
    variable
        .users()
        .any(|u| calls(u, &begins) && u.operand(1) == variable.into())
}

/// Refuses private variables through which a loop passes values to later code.
pub(super) fn check<'m>(
    module: Module<'m>,
    function: Function<'m>,
    sections: &[LoopSection<'m>],
    shared: &HashSet<Alloca<'m>>,
) -> Result<(), Refusal> {
    let owner = |i| sections.iter().position(|s| s.contains(i));
    for variable in function.instructions().filter_map(|i| i.as_alloca()) {
        if shared.contains(&variable) {
            continue;
        }
        let mut users = variable.users().filter_map(Value::as_instruction);
        let inside = users.any(|u| owner(u).is_some());
        let Some(touches) = accesses_to(module, variable) else {
            match inside {
                true => return Err(refuse("the address of a private variable escapes")),
                false => continue,
            }
        };
        let stores = |t: &&VariableAccess<'m>| t.address && owner(t.at).is_none() && inside;
        if let Some(odd) = touches.iter().find(stores) {
            return Err(refuse_at(
                "an address is stored in a private variable",
                odd.at,
            ));
        }
        if is_list(variable) {
            continue;
        }
        let anew: Vec<Instruction<'m>> = touches
            .iter()
            .filter(|t| t.anew && owner(t.at).is_none())
            .map(|t| t.at)
            .collect();
        let renewed: HashSet<Block<'m>> = anew.iter().map(|i| i.block()).collect();
        for (number, section) in sections.iter().enumerate() {
            let mine = |t: &&VariableAccess<'m>| owner(t.at) == Some(number);
            // A reduction's copy is initialized before each run.
            let copy = touches
                .iter()
                .filter(mine)
                .any(|t| t.read && t.at.as_store().is_some());
            if !touches.iter().filter(mine).any(|t| t.write) {
                continue;
            }
            // Execution continues here with what the loop has left.
            let mut open = reached(&[section.after], &|b| renewed.contains(&b));
            if !renewed.contains(&section.after) {
                open.insert(section.after);
            }
            let first = |t: &VariableAccess<'m>| !anew.iter().any(|&a| comes_before(a, t.at));
            for touch in touches.iter().filter(|t| t.read) {
                let there = match owner(touch.at) {
                    Some(other) => {
                        let own = touches.iter().any(|t| {
                            t.anew && owner(t.at) == Some(other) && t.at.as_store().is_none()
                        });
                        let fresh = own || copy && other == number;
                        !fresh && open.contains(&sections[other].entry)
                    }
                    None => {
                        let here = touch.at.block();
                        let edge = renewed.contains(&here)
                            && (here == section.after
                                || here.predecessors().any(|p| open.contains(&p)));
                        open.contains(&here) || edge && first(touch)
                    }
                };
                if there {
                    return Err(between(touch.at));
                }
            }
        }
    }
    Ok(())
}

/// Returns true if the first instruction precedes the second in their block, or is the same.
fn comes_before<'m>(first: Instruction<'m>, second: Instruction<'m>) -> bool {
    first == second || first.following().any(|i| i == second)
}
