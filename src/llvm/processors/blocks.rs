//! Memory of a block: its share of the league, and the variables that its threads share.
//!
//! On a GPU these are variables of other address spaces. Here each becomes a place in memory that
//! the thread of the block provides, so that many blocks run at once.

use crate::emulate::variables::is_among;
use crate::handles::{Function, Module, Position, Value};
use crate::nvptx::{LEAGUE, share_variables};
use crate::shim;

/// Returns the memory of the calling thread's block.
pub(super) const CURRENT: &str = "ompvm.block";

/// Moves the variables to a block's memory, and returns its size in bytes. The share of the league
/// comes first.
pub(super) fn place(module: Module<'_>, shared: &[String]) -> u64 {
    let context = module.context();
    let current = module.add_function(CURRENT, context.pointer().function(&[]));
    for name in ["nounwind", "willreturn", "nosync", "memory"] {
        current.add_attribute(Position::Function, name, 0);
    }
    let layout = module.layout();
    let mut end = size_of::<omp_abi::League>() as u64;
    if let Some(league) = module.variable(LEAGUE) {
        replace(league.into(), current, 0);
        // SAFETY: all uses are replaced, and the handle is not used again.
        unsafe { league.delete() };
    }
    // Memory that a launch adds, as variables without a definition, comes after all others.
    for added in [false, true] {
        for variable in module.variables() {
            if !is_among(shared, variable) || variable.is_declaration() != added {
                continue;
            }
            let align = u64::from(layout.preferred_alignment(variable)).max(16);
            let offset = end.next_multiple_of(align);
            end = offset + layout.size(variable.contents());
            replace(variable.into(), current, offset);
            // SAFETY: all uses are replaced, and the handle is not used again.
            unsafe { variable.delete() };
        }
    }
    end.next_multiple_of(64)
}

/// Replaces a variable in each function by its place in the block's memory.
fn replace<'m>(variable: Value<'m>, current: Function<'m>, offset: u64) {
    let context = current.module().context();
    let builder = context.builder();
    for function in share_variables::users(variable) {
        let block = builder.at_entry(function).call(current, &[]);
        let offset = context.int(64).constant(offset);
        let place = builder.offset(block, offset);
        shim::replace_in_function(function, variable, place);
    }
}
