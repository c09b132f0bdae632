//! Reductions over tasks: task_reduction and in_reduction, and the task modifier.
//!
//! OpenMP 5.2, sections 5.5.8 to 5.5.10.
//!
//! A taskgroup keeps, for each list item, one private copy per member of the team, created when
//! that member first requests it. The end of the group combines the copies into the original. With
//! the task modifier every member begins a group of its own whose original is the member's private
//! copy, so nothing is shared there; the construct's own reduction combines the rest.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::create::current;
use super::wait::{begin_group, end_group};
use super::{Group, Task};
use crate::ident::Ident;
use crate::runtime::RUNTIME;
use crate::thread::by_number;
use ompvm_support::message::{Kind, Message};

type Initialize = Option<unsafe extern "C-unwind" fn(private: *mut c_void, original: *mut c_void)>;
type Finish = Option<unsafe extern "C-unwind" fn(private: *mut c_void)>;
type Combine = Option<unsafe extern "C-unwind" fn(into: *mut c_void, from: *mut c_void)>;

/// A list item in the compiler's description.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Input {
    shared: *mut c_void,
    original: *mut c_void,
    size: usize,
    initialize: Initialize,
    finish: Finish,
    combine: Combine,
    flags: u32,
}

/// A list item without the original, in the description of older compilers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OldInput {
    shared: *mut c_void,
    size: usize,
    initialize: Initialize,
    finish: Finish,
    combine: Combine,
    flags: u32,
}

impl From<OldInput> for Input {
    fn from(old: OldInput) -> Self {
        Self {
            shared: old.shared,
            original: old.shared,
            size: old.size,
            initialize: old.initialize,
            finish: old.finish,
            combine: old.combine,
            flags: old.flags,
        }
    }
}

/// One list item of a group.
pub struct Reduction {
    input: Input,
    /// Copies of the members; null if not created.
    copies: Box<[AtomicPtr<c_void>]>,
}

impl Reduction {
    fn new(input: Input, members: u32) -> Self {
        let copies = (0..members).map(|_| AtomicPtr::default()).collect();
        Self { input, copies }
    }

    fn layout(&self) -> Layout {
        // Cache lines of its own, since other threads write the neighbors.
        Layout::from_size_align(self.input.size.max(1), 64)
            .map(|layout| layout.pad_to_align())
            .unwrap_or(Layout::new::<[u64; 8]>())
    }

    /// Returns true if `address` is the item, as seen by the task that names it.
    fn is_at(&self, address: *mut c_void) -> bool {
        let within = |copy: *mut c_void| {
            let offset = address.addr().wrapping_sub(copy.addr());
            !copy.is_null() && offset < self.input.size.max(1)
        };
        // Relaxed: a copy that was passed to the task was created before the task.
        self.input.shared == address
            || self.input.original == address
            || self
                .copies
                .iter()
                .any(|c| within(c.load(Ordering::Relaxed)))
    }

    /// Returns the copy of member `tid`, the calling one, and creates it if need be.
    fn copy(&self, tid: u32) -> *mut c_void {
        let Some(cell) = self.copies.get(tid as usize) else {
            return self.input.shared;
        };
        // Relaxed: only the member writes it.
        let copy = cell.load(Ordering::Relaxed);
        if !copy.is_null() {
            return copy;
        }
        let layout = self.layout();
        // SAFETY: the layout is not empty.
        let copy = unsafe { alloc_zeroed(layout) }.cast::<c_void>();
        if copy.is_null() {
            handle_alloc_error(layout);
        }
        if let Some(initialize) = self.input.initialize {
            // SAFETY: calls the compiler's function with its own item; older ones take one
            // argument.
            unsafe { initialize(copy, self.input.original) };
        }
        // Relaxed: others read it only after a task received it, or at the group's end.
        cell.store(copy, Ordering::Relaxed);
        copy
    }

    /// Combines all copies into the original and destroys them.
    ///
    /// # Safety
    /// All tasks of the group are complete.
    unsafe fn end(&self) {
        for copy in &self.copies {
            // Relaxed: the members' ends precede.
            let copy = copy.load(Ordering::Relaxed);
            if copy.is_null() {
                continue;
            }
            // SAFETY: calls the compiler's functions with their own item; `copy` allocated it with
            // this layout.
            unsafe {
                if let Some(combine) = self.input.combine {
                    combine(self.input.shared, copy);
                }
                if let Some(finish) = self.input.finish {
                    finish(copy);
                }
                dealloc(copy.cast(), self.layout());
            }
        }
    }
}

impl Group {
    /// Ends the reductions of a group.
    ///
    /// # Safety
    /// All tasks of the group are complete.
    #[inline]
    pub unsafe fn end_reductions(&mut self) {
        for reduction in self.reductions.drain(..) {
            // SAFETY: all tasks of the group are complete (caller's contract).
            unsafe { reduction.end() };
        }
    }
}

unsafe fn init<T: Copy + Into<Input>>(gtid: i32, count: i32, items: *const T) -> *mut c_void {
    let thread = by_number(gtid);
    // SAFETY: the task that the thread executes.
    let group = unsafe { (*current(thread)).group.get() };
    // SAFETY: null, or a group that this thread began and that has no task yet.
    if let Some(group) = unsafe { group.as_mut() } {
        for i in 0..count.max(0) as usize {
            // SAFETY: there are `count` items (callers' contract).
            let input = unsafe { *items.add(i) }.into();
            let reduction = Reduction::new(input, thread.team().size());
            group.reductions.push(reduction);
        }
    }
    group.cast()
}

/// Begins reductions in the innermost group, which was begun just before.
///
/// # Safety
/// `items` has `count` elements.
pub unsafe extern "C-unwind" fn begin(gtid: i32, count: i32, items: *const Input) -> *mut c_void {
    // SAFETY: `items` has `count` elements (caller's contract).
    unsafe { init(gtid, count, items) }
}

/// Like [`begin`], for older compilers.
///
/// # Safety
/// As for [`begin`].
pub unsafe extern "C-unwind" fn begin_old(
    gtid: i32,
    count: i32,
    items: *const OldInput,
) -> *mut c_void {
    // SAFETY: `items` has `count` elements (caller's contract).
    unsafe { init(gtid, count, items) }
}

/// Begins a reduction with the task modifier: a group of its own, ended by [`end_modifier`].
///
/// # Safety
/// As for [`begin`].
pub unsafe extern "C-unwind" fn begin_modifier(
    ident: *const Ident,
    gtid: i32,
    _worksharing: i32,
    count: i32,
    items: *const Input,
) -> *mut c_void {
    // SAFETY: `items` has `count` elements (caller's contract).
    unsafe {
        begin_group(ident, gtid);
        init(gtid, count, items)
    }
}

/// Like [`begin_modifier`], for older compilers.
///
/// # Safety
/// As for [`begin`].
pub unsafe extern "C-unwind" fn begin_modifier_old(
    ident: *const Ident,
    gtid: i32,
    _worksharing: i32,
    count: i32,
    items: *const OldInput,
) -> *mut c_void {
    // SAFETY: `items` has `count` elements (caller's contract).
    unsafe {
        begin_group(ident, gtid);
        init(gtid, count, items)
    }
}

/// Ends a reduction with the task modifier.
pub unsafe extern "C-unwind" fn end_modifier(ident: *const Ident, gtid: i32, _worksharing: i32) {
    // SAFETY: ends the group that `begin_modifier` began.
    unsafe { end_group(ident, gtid) };
}

/// Returns the calling member's copy of the item at `address`, in `group` or in the current task's
/// group, or in one that encloses it.
///
/// # Safety
/// `group` is null or a group that [`begin`] returned.
pub unsafe extern "C-unwind" fn private_copy(
    gtid: i32,
    group: *mut c_void,
    address: *mut c_void,
) -> *mut c_void {
    let thread = by_number(gtid);
    let task: *mut Task = current(thread);
    let mut at = group.cast::<Group>();
    if at.is_null() {
        // SAFETY: the task that the thread executes.
        at = unsafe { (*task).group.get() };
    }
    // SAFETY: groups live until their tasks are complete, and this thread executes one.
    while let Some(group) = unsafe { at.as_ref() } {
        if let Some(item) = group.reductions.iter().find(|r| r.is_at(address)) {
            return item.copy(thread.tid());
        }
        at = group.outer;
    }
    if address.is_null() {
        warn_no_address();
    }
    address
}

/// Warns of an item without an address. clang 22 passes null for an array section of a pointer, and
/// an access follows that faults.
#[cold]
fn warn_no_address() {
    RUNTIME.warned_no_address.call_once(|| {
        let text = format_args!(
            "a list item of `in_reduction` has no address, so an access to it faults; clang loses a \
             pointer that is the base of an array section: name an array or a scalar instead"
        );
        Message::new(Kind::Warning, &text).print();
    });
}
