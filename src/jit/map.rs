//! Which compiled function a native position is in, and where in the source: for fault messages.
//!
//! What: a list of all linked code of the process that signal handlers read ([`Seen`]).
//!
//! What not: code is never moved; nothing is looked up while a program runs well.

use super::lines::{Lines, Place};
use crate::ir::FuncId;
use crate::memory::image::Image;
use crate::memory::signals;
use crate::support::demangle;
use crate::support::seen::{Listed, Seen};
use cranelift_entity::EntityRef;
use std::fmt::Write;

/// Linked code of one object.
#[derive(Debug)]
pub struct Code {
    /// The image it belongs to, which is taken down after its code.
    pub image: *const Image,
    /// Start and length of each piece of memory that holds code.
    pub ranges: Vec<(usize, usize)>,
    /// Start and number of each function, sorted.
    pub functions: Vec<(usize, FuncId)>,
    /// Where they come from.
    pub lines: Lines,
}

// SAFETY: read only; the image is shared between threads anyway.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// The function at a position, and the place it stands for. Allocates nothing.
    pub fn at(&self, position: usize) -> Option<(FuncId, Option<Place<'_>>)> {
        let inside = |&(start, len): &(usize, usize)| position.wrapping_sub(start) < len;
        if !self.ranges.iter().any(inside) {
            return None;
        }
        let after = self
            .functions
            .partition_point(|&(start, _)| start <= position);
        let (start, id) = self.functions[after.checked_sub(1)?];
        let offset = u32::try_from(position - start).ok()?;
        Some((id, self.lines.place(id.index() as u32, offset)))
    }
}

/// All linked code of the process.
static CODE: Seen<Code> = Seen::new();

/// Puts code into the list.
pub fn list(code: Code) -> Listed<Code> {
    signals::set_native_hook(is_compiled, describe);
    CODE.put(code)
}

/// Whether a position is in compiled code. Neither allocates nor locks.
pub fn is_compiled(position: usize) -> bool {
    CODE.find(|code| code.at(position).map(|_| ())).is_some()
}

/// The image and the compiled function that a position is in.
pub fn function_at(position: usize) -> Option<(*const Image, FuncId)> {
    let mut found = None;
    CODE.find(|code| {
        found = Some((code.image, code.at(position)?.0));
        Some(())
    });
    found
}

/// Writes `file.c:14:3` and the function's name, as for interpreted code.
fn describe(position: usize, place: &mut dyn Write, function: &mut dyn Write) {
    CODE.find(|code| {
        let (id, at) = code.at(position)?;
        // SAFETY: the image is taken down after its code.
        let module = unsafe { &(*code.image).module };
        let f = &module.functions[id];
        let scope = f.scope.map(|s| &module.debug.scopes[s]);
        // What is written goes into fixed buffers.
        let _ = match (at, scope) {
            (Some(at), _) if at.column > 0 => {
                write!(place, "{}:{}:{}", at.file, at.line, at.column)
            }
            (Some(at), _) => write!(place, "{}:{}", at.file, at.line),
            // Code without a line of its own stands at the function's head.
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
        let _ = write!(function, "{}", demangle::plain(name));
        Some(())
    });
}
