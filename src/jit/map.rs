//! Maps native positions to compiled functions and source locations, for fault messages.
//!
//! The map lists all linked code of the process, and signal handlers read it
//! ([`Registry`](ompvm_support::registry::Registry)). Code never moves, and no look-up happens
//! while a program runs without faults.

use super::lines::{LineTable, SourceLocation};
use super::process::CODE;
use cranelift_entity::EntityRef;
use ompvm_ir::FuncId;
use ompvm_memory::image::Image;
use ompvm_memory::signals;
use ompvm_support::demangle;
use ompvm_support::registry::Registration;
use std::fmt::Write;

/// Linked code of one object.
#[derive(Debug)]
pub struct LinkedCode {
    /// The image it belongs to, which is dropped after its code.
    pub image: *const Image,
    /// Start and length of each memory range with code.
    pub ranges: Vec<(usize, usize)>,
    /// Start and id of each function, sorted.
    pub functions: Vec<(usize, FuncId)>,
    /// Source locations of the code.
    pub lines: LineTable,
}

// SAFETY: nothing is written after construction, and `Image` is `Sync`.
unsafe impl Send for LinkedCode {}
// SAFETY: nothing is written after construction, and `Image` is `Sync`.
unsafe impl Sync for LinkedCode {}

impl LinkedCode {
    /// Returns the function and the source location of a position. Does not allocate.
    pub fn at(&self, position: usize) -> Option<(FuncId, Option<SourceLocation<'_>>)> {
        let inside = |&(start, len): &(usize, usize)| position.wrapping_sub(start) < len;
        if !self.ranges.iter().any(inside) {
            return None;
        }
        let after = self
            .functions
            .partition_point(|&(start, _)| start <= position);
        let (start, id) = self.functions[after.checked_sub(1)?];
        let offset = u32::try_from(position - start).ok()?;
        Some((id, self.lines.location(id.index() as u32, offset)))
    }
}

/// Adds code to the list.
pub fn list(code: LinkedCode) -> Registration<LinkedCode> {
    signals::set_native_hook(is_compiled, describe);
    CODE.linked.add(code)
}

/// Returns true if a position is in compiled code. Neither allocates nor locks.
pub fn is_compiled(position: usize) -> bool {
    CODE.linked
        .find(|code| code.at(position).map(|_| ()))
        .is_some()
}

/// Returns the image and the compiled function of a position.
pub fn function_at(position: usize) -> Option<(*const Image, FuncId)> {
    let mut found = None;
    CODE.linked.find(|code| {
        found = Some((code.image, code.at(position)?.0));
        Some(())
    });
    found
}

/// Writes `file.c:14:3` and the function's name, as for interpreted code.
fn describe(position: usize, place: &mut dyn Write, function: &mut dyn Write) {
    CODE.linked.find(|code| {
        let (id, at) = code.at(position)?;
        // SAFETY: listed code belongs to a live image, which is dropped after its code.
        let module = unsafe { &(*code.image).module };
        let f = &module.functions[id];
        let scope = f.scope.map(|s| &module.debug.scopes[s]);
        // The output buffers are fixed; text that does not fit is cut.
        let _ = match (at, scope) {
            (Some(at), _) if at.column > 0 => {
                write!(place, "{}:{}:{}", at.file, at.line, at.column)
            }
            (Some(at), _) => write!(place, "{}:{}", at.file, at.line),
            // Code without a line of its own is attributed to the function's head.
            (None, Some(scope)) => {
                write!(
                    place,
                    "{}:{}",
                    module.debug.files[scope.file].name, scope.line
                )
            }
            (None, None) => Ok(()),
        };
        let inlined = at.map_or("", |at| at.function);
        let name = match (inlined, scope) {
            ("", Some(scope)) => &scope.name,
            ("", None) => &*f.name,
            (inlined, _) => inlined,
        };
        let _ = write!(function, "{}", demangle::source_name(name));
        Some(())
    });
}
