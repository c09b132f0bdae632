//! Ranges of host memory that copies of a driver and system calls use at the moment.
//!
//! Page faults do not help them. A driver that faults may hold a lock which the copy of the page
//! needs, so both would wait for ever; a system call fails. Their memory is therefore copied to the
//! host before ([`begin`]), and stays accessible until [`end`]: a region protects pages only if
//! [`claim`] allows it. This matters where threads use different parts of one block.
//!
//! A copy is short, so a region waits for it, but not for ever: a signal handler that interrupts the
//! copy may wait for the region. A system call may wait for the very thread that starts the region,
//! so the region runs on the host at once. A system call that is left by `longjmp` or by the
//! cancellation of its thread stays in the list, and regions that use its block run on the host from
//! then on.
//!
//! Signal handlers call system functions, too, perhaps while their thread holds a lock of this
//! crate. Such a call is not listed.

use super::residency;
use crate::locals::LOCALS;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::mem::ManuallyDrop;
use std::sync::Once;
use std::time::{Duration, Instant};

/// Longest time that a region waits for copies.
const PATIENCE: Duration = Duration::from_secs(5);

/// Purpose of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A copy by a driver.
    Copy,
    /// A system call.
    Call,
}

/// A range in use.
#[derive(Debug)]
struct Use {
    id: u64,
    start: usize,
    end: usize,
    purpose: Purpose,
    /// True once the range is accessible. A region need not wait before.
    accessible: bool,
}

/// The ranges in use.
#[derive(Debug)]
pub(super) struct InUse {
    list: Mutex<List>,
    /// Signalled when a copy ends.
    ended: Condvar,
}

/// Exclusive access to the list.
pub(crate) type ListGuard = MutexGuard<'static, List>;

#[derive(Debug)]
pub(crate) struct List {
    uses: Vec<Use>,
    next: u64,
}

/// A region cannot have a block, which another thread uses.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Occupied;

impl InUse {
    pub(super) const fn new() -> InUse {
        InUse {
            list: Mutex::new(List {
                uses: Vec::new(),
                next: 0,
            }),
            ended: Condvar::new(),
        }
    }

    /// Enters a range. It is accessible at once if `is_free` is true under the lock of the list.
    /// Returns its number and whether it is accessible.
    fn enter(
        &self,
        start: usize,
        size: usize,
        purpose: Purpose,
        is_free: impl Fn() -> bool,
    ) -> (u64, bool) {
        let mut list = self.list.lock();
        let id = list.next;
        list.next += 1;
        let accessible = is_free();
        list.uses.push(Use {
            id,
            start,
            end: start.saturating_add(size),
            purpose,
            accessible,
        });
        (id, accessible)
    }

    fn set_accessible(&self, id: u64) {
        let mut list = self.list.lock();
        if let Some(entered) = list.uses.iter_mut().find(|u| u.id == id) {
            entered.accessible = true;
        }
    }

    fn leave(&self, id: u64) {
        let mut list = self.list.lock();
        if let Some(at) = list.uses.iter().position(|u| u.id == id) {
            let left = list.uses.swap_remove(at);
            if left.purpose == Purpose::Copy {
                self.ended.notify_all();
            }
        }
    }

    /// Waits until no copy uses a block that a region is about to protect.
    ///
    /// # Errors
    /// [`Occupied`] if a system call uses it, or a copy for too long.
    fn wait(&self, start: usize, end: usize) -> Result<(), Occupied> {
        let until = Instant::now() + PATIENCE;
        let mut list = self.list.lock();
        loop {
            let mut overlapping = list
                .uses
                .iter()
                .filter(|u| u.accessible && u.start < end && start < u.end)
                .peekable();
            if overlapping.peek().is_none() {
                return Ok(());
            }
            if overlapping.any(|u| u.purpose == Purpose::Call) {
                return Err(Occupied);
            }
            if self.ended.wait_until(&mut list, until).timed_out() {
                return Err(Occupied);
            }
        }
    }
}

/// Copies a range to the host, and keeps it accessible until [`end`] gets the number returned.
/// Returns `None` if no page will be protected.
pub(super) fn begin(start: usize, size: usize, write: bool, purpose: Purpose) -> Option<u64> {
    begin_all(std::iter::once((start, size)), write, purpose)
}

/// Begins a use of several ranges, given by start and size, as [`begin`] does. All between them counts
/// as in use.
pub(super) fn begin_all(
    ranges: impl Iterator<Item = (usize, usize)> + Clone,
    write: bool,
    purpose: Purpose,
) -> Option<u64> {
    let ranges = ranges.filter(|&(_, size)| size > 0);
    let start = ranges.clone().map(|(start, _)| start).min()?;
    let end = ranges
        .clone()
        .map(|(start, size)| start.saturating_add(size));
    let size = end.max()? - start;
    // A signal handler has interrupted its thread, which holds what this needs.
    let interrupts = LOCALS.with(|l| l.holds_objects.get() || l.holds_list.get());
    if interrupts || !residency::is_device_usable() {
        return None;
    }
    // A region raises the count before it looks at the list, so one of both sees the other.
    let in_use = residency::in_use();
    let (id, accessible) = holding(|| in_use.enter(start, size, purpose, residency::is_empty));
    if !accessible {
        let mut objects = residency::lock_objects();
        for (start, size) in ranges {
            objects.copy_to_host(start, size, write);
        }
        // No region has protected the ranges since, as it needs the lock on the objects.
        holding(|| in_use.set_accessible(id));
    }
    Some(id)
}

/// Lets signal handlers know that their thread may hold the list.
fn holding<R>(f: impl FnOnce() -> R) -> R {
    LOCALS.with(|l| l.holds_list.set(true));
    let result = f();
    LOCALS.with(|l| l.holds_list.set(false));
    result
}

/// Ends a use.
pub(super) fn end(id: Option<u64>) {
    if let Some(id) = id {
        holding(|| residency::in_use().leave(id));
    }
}

/// Waits until a region may protect a block. The caller holds the lock on the objects, and has
/// counted itself as an object, so no new use becomes accessible without that lock.
///
/// # Errors
/// [`Occupied`] if a system call uses the block, or a copy for too long.
pub(super) fn claim(start: usize, size: usize) -> Result<(), Occupied> {
    let end = start.saturating_add(size.next_multiple_of(super::heap::PAGE));
    holding(|| residency::in_use().wait(start, end))
}

/// Keeps the list whole across forks: a child has no other threads, so it begins with an empty one.
pub(super) fn watch_forks() {
    static ONCE: Once = Once::new();
    // SAFETY: the handlers do not unwind.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(
            Some(lock_list),
            Some(unlock_list_in_parent),
            Some(unlock_list_in_child),
        );
    });
}

extern "C" fn lock_list() {
    LOCALS.with(|l| l.holds_list.set(true));
    let list = ManuallyDrop::new(residency::in_use().list.lock());
    LOCALS.with(|l| l.list_guard.set(Some(list)));
}

/// Returns the lock that the calling thread holds during a fork.
fn take_list() -> Option<ListGuard> {
    LOCALS
        .with(|l| l.list_guard.take())
        .map(ManuallyDrop::into_inner)
}

extern "C" fn unlock_list_in_parent() {
    drop(take_list());
    LOCALS.with(|l| l.holds_list.set(false));
}

extern "C" fn unlock_list_in_child() {
    if let Some(mut list) = take_list() {
        list.uses.clear();
    }
    LOCALS.with(|l| l.holds_list.set(false));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[test]
    fn a_region_waits_for_a_copy_of_its_block_alone() {
        let in_use = InUse::new();
        let (other, _) = in_use.enter(0x9000, 16, Purpose::Copy, || true);
        let (copy, _) = in_use.enter(0x1010, 16, Purpose::Copy, || true);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                done.store(true, Ordering::Release);
                in_use.leave(copy);
            });
            assert_eq!(in_use.wait(0x1000, 0x2000), Ok(()));
            assert!(done.load(Ordering::Acquire));
        });
        in_use.leave(other);
        assert!(in_use.list.lock().uses.is_empty());
    }

    #[test]
    fn a_region_is_refused_a_block_of_a_system_call() {
        let in_use = InUse::new();
        let (call, _) = in_use.enter(0x1ff0, 32, Purpose::Call, || true);
        assert_eq!(in_use.wait(0x1000, 0x2000), Err(Occupied));
        assert_eq!(in_use.wait(0x3000, 0x4000), Ok(()));
        in_use.leave(call);
        assert_eq!(in_use.wait(0x1000, 0x2000), Ok(()));
    }

    #[test]
    fn a_use_that_waits_for_the_objects_holds_up_no_region() {
        let in_use = InUse::new();
        let (id, accessible) = in_use.enter(0x1000, 16, Purpose::Copy, || false);
        assert!(!accessible);
        assert_eq!(in_use.wait(0x1000, 0x2000), Ok(()));
        in_use.set_accessible(id);
        in_use.leave(id);
        assert_eq!(in_use.wait(0x1000, 0x2000), Ok(()));
    }
}
