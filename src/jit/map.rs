//! Which compiled function a native position is in, and where in the source: for fault messages.
//!
//! What: a list of all linked code of the process that signal handlers read without a lock (a
//! handler that waited, or gave up because another thread was reading, would lose the message).
//! Why a count of readers: code that is taken out is freed only when nobody can be looking at it.
//!
//! What not: code is never moved; nothing is looked up while a program runs well.

use super::lines::{Lines, Place};
use crate::ir::FuncId;
use crate::memory::image::Image;
use crate::memory::signals;
use cranelift_entity::EntityRef;
use std::fmt::Write;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

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

/// A place in the list, which is never given back.
struct Node {
    code: AtomicPtr<Code>,
    next: *const Node,
}

static HEAD: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());
static READERS: AtomicUsize = AtomicUsize::new(0);

/// Code that is in the list as long as this lives.
#[derive(Debug)]
pub struct Listed {
    node: *const Node,
}

// SAFETY: nodes live for ever.
unsafe impl Send for Listed {}
// SAFETY: as above.
unsafe impl Sync for Listed {}

/// Puts code into the list.
pub fn list(code: Code) -> Listed {
    signals::set_native_hook(is_compiled, describe);
    let code = Box::into_raw(Box::new(code));
    // An empty place is taken first.
    let mut node = HEAD.load(Ordering::Acquire).cast_const();
    // SAFETY: nodes live for ever.
    while let Some(place) = unsafe { node.as_ref() } {
        let taken =
            place
                .code
                .compare_exchange(ptr::null_mut(), code, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_ok() {
            return Listed { node: place };
        }
        node = place.next;
    }
    let place = Box::leak(Box::new(Node {
        code: AtomicPtr::new(code),
        next: HEAD.load(Ordering::Relaxed),
    }));
    while let Err(now) = HEAD.compare_exchange_weak(
        place.next.cast_mut(),
        place,
        Ordering::AcqRel,
        Ordering::Relaxed,
    ) {
        place.next = now;
    }
    Listed { node: place }
}

impl Drop for Listed {
    fn drop(&mut self) {
        // SAFETY: nodes live for ever; the code was a box, and whoever could have found it before
        // it went is a reader that is waited for.
        unsafe {
            let code = (*self.node).code.swap(ptr::null_mut(), Ordering::SeqCst);
            while READERS.load(Ordering::SeqCst) != 0 {
                std::thread::yield_now();
            }
            drop(Box::from_raw(code));
        }
    }
}

/// Asks each code of the list until one answers.
fn find<T>(mut ask: impl FnMut(&Code) -> Option<T>) -> Option<T> {
    READERS.fetch_add(1, Ordering::SeqCst);
    let mut found = None;
    let mut node = HEAD.load(Ordering::SeqCst).cast_const();
    // SAFETY: nodes live for ever, code while there are readers.
    unsafe {
        while let Some(place) = node.as_ref()
            && found.is_none()
        {
            let code = place.code.load(Ordering::SeqCst);
            found = code.as_ref().and_then(&mut ask);
            node = place.next;
        }
    }
    READERS.fetch_sub(1, Ordering::SeqCst);
    found
}

/// Whether a position is in compiled code. Neither allocates nor locks.
pub fn is_compiled(position: usize) -> bool {
    find(|code| code.at(position).map(|_| ())).is_some()
}

/// Writes `file.c:14:3` and the function's name, as for interpreted code.
fn describe(position: usize, place: &mut dyn Write, function: &mut dyn Write) {
    find(|code| {
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
        let _ = write!(function, "{name}");
        Some(())
    });
}
