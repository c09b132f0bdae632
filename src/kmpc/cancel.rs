//! Cancellation of parallel regions, loops, sections and taskgroups. OpenMP 5.2, chapter 16.
//!
//! Cancellation requires `OMP_CANCELLATION` to be true; otherwise requests are ignored. The threads
//! of a team share [`CancelRequests`]. No request is withdrawn while a region runs, because each
//! carries the number of barriers (the epoch, see `team/README.md`) that its thread had passed:
//!
//! - A **loop or sections** construct ends with a barrier. So a request for one is valid as long as
//!   a thread's epoch is the request's, and void for all later constructs.
//! - A **region** is left through a barrier, too: the compiler lets the thread that received a
//!   request call `__kmpc_cancel_barrier` before it leaves, and the others leave from their next
//!   one. After a barrier all threads agree if a request was made before it (its epoch is not above
//!   the one before the barrier), so all leave there or none. Some threads may have arrived through
//!   a barrier that is no cancellation point, in a function that does not know the region from
//!   which it is called. For them another barrier is needed: arrivals at cancelable barriers are
//!   counted, and the region is left once all arrivals of a barrier were. The count is tagged with
//!   the epoch. Two counts alternate, since one is written for the epoch after the next only when
//!   every thread has read it.
//!
//! If cancellation is on, the end of a region is such a barrier: a leaving thread waits for all
//! others, which may have arrived there without another cancellation point.
//!
//! A thread that leaves a dispatched loop early leaves the loop's buffer, so that the buffer
//! becomes free; the master resets the buffers of a region that was left.
//!
//! A canceled taskgroup, and a canceled region, execute no task that has not begun
//! (`task::execution`).
//!
//! Barriers inside a construct that only some threads have left are not supported.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::barrier;
use crate::dispatch;
use crate::icv::settings;
use crate::ident::Ident;
use crate::task::{self, Group};
use crate::team::Team;
use crate::thread::{Thread, by_number, current};
use omp_abi::cancel as kind;
use ompvm_support::sync::fence;

/// Pending cancellation requests of the threads of a team.
#[derive(Debug, Default)]
pub struct CancelRequests {
    /// The region: 0, or 1 + the epoch of the first request.
    region: AtomicU64,
    /// A worksharing construct: 0, or epoch << 2 | kind of the last request.
    construct: AtomicU64,
    /// epoch << 16 | number of arrivals at a cancelable barrier, for even and odd epochs.
    arrived: [AtomicU64; 2],
}

impl CancelRequests {
    /// Returns true if a thread requested to cancel the region at this epoch or an earlier one.
    fn region_by(&self, epoch: u64) -> bool {
        let request = self.region.load(Ordering::Acquire);
        request != 0 && request - 1 <= epoch
    }

    /// Returns true if the region is canceled.
    pub fn any(&self) -> bool {
        self.region.load(Ordering::Relaxed) != 0
    }

    /// Removes all requests. No region runs.
    pub fn clear(&self) {
        self.region.store(0, Ordering::Relaxed);
        // A request for a construct is void after its epoch, and so is a count.
    }

    /// Counts an arrival at the cancelable barrier that ends this epoch.
    fn arrive(&self, epoch: u64) {
        let count = &self.arrived[epoch as usize % 2];
        let tag = epoch + 1;
        let mut seen = count.load(Ordering::Relaxed);
        loop {
            let next = if seen >> 16 == tag {
                seen + 1
            } else {
                tag << 16 | 1
            };
            match count.compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Returns the number of arrivals at the cancelable barrier that ended this epoch. The calling
    /// thread has passed that barrier and not reached the next one.
    fn arrivals(&self, epoch: u64) -> u64 {
        let count = self.arrived[epoch as usize % 2].load(Ordering::Relaxed);
        if count >> 16 == epoch + 1 {
            count & 0xffff
        } else {
            0
        }
    }
}

fn epoch(thread: &Thread, team: &Team) -> u64 {
    // SAFETY: the thread takes part in its team's region with this number.
    unsafe { team.core.epoch(thread.tid()) }
}

/// Requests to cancel the innermost construct of this kind; returns 1 if the thread is to
/// leave it.
pub unsafe extern "C-unwind" fn request(_ident: *const Ident, gtid: i32, kind: i32) -> i32 {
    if !settings().cancellation {
        return 0;
    }
    let thread = by_number(gtid);
    let team = thread.team();
    // A team of one just leaves: no other thread needs to know.
    let alone = team.size() == 1;
    let requests = &team.cancel;
    match kind {
        kind::PARALLEL if !alone => {
            let mine = epoch(thread, team) + 1;
            let order = Ordering::AcqRel;
            let _ = requests
                .region
                .compare_exchange(0, mine, order, Ordering::Relaxed);
            // A thread that sleeps until another thread's iteration is over checks again.
            fence(Ordering::SeqCst);
            // SAFETY: the thread takes part in the region of this size.
            unsafe { team.core.wake_all(team.size()) };
        }
        kind::LOOP | kind::SECTIONS if !alone => {
            let mine = epoch(thread, team) << 2 | kind as u64;
            requests.construct.store(mine, Ordering::Release);
        }
        kind::PARALLEL | kind::LOOP | kind::SECTIONS => {}
        kind::TASKGROUP => {
            let Some(group) = group(thread) else { return 0 };
            group.canceled.store(true, Ordering::Release);
            return 1;
        }
        _ => return 0,
    }
    dispatch::abandon(thread);
    1
}

/// Returns the innermost taskgroup around the thread.
fn group(thread: &Thread) -> Option<&Group> {
    // SAFETY: the task that the thread executes, whose groups live at least as long.
    unsafe { (*task::create::current(thread)).group.get().as_ref() }
}

/// Returns true if the thread is to leave a construct of this kind.
fn requested(thread: &Thread, kind: i32) -> bool {
    let team = thread.team();
    let requests = &team.cancel;
    if !settings().cancellation {
        return false;
    }
    if kind == kind::TASKGROUP {
        return group(thread).is_some_and(|group| group.canceled.load(Ordering::Acquire));
    }
    if team.size() == 1 {
        return false;
    }
    match kind {
        kind::PARALLEL => requests.region_by(epoch(thread, team)),
        kind::LOOP | kind::SECTIONS => {
            let mine = epoch(thread, team) << 2 | kind as u64;
            requests.construct.load(Ordering::Acquire) == mine
        }
        _ => false,
    }
}

/// Implements a cancellation point: returns 1 if the innermost construct of this kind is to be
/// left.
pub unsafe extern "C-unwind" fn point(_ident: *const Ident, gtid: i32, kind: i32) -> i32 {
    let thread = by_number(gtid);
    let leave = requested(thread, kind);
    if leave && kind != kind::TASKGROUP {
        dispatch::abandon(thread);
    }
    i32::from(leave)
}

/// Implements a barrier that is a cancellation point: returns 1 if the region is to be left.
pub unsafe extern "C-unwind" fn barrier(ident: *const Ident, gtid: i32) -> i32 {
    let thread = by_number(gtid);
    let team = thread.team();
    let size = team.size();
    if !settings().cancellation || size == 1 {
        // SAFETY: the arguments are those of this entry, whose contract is the same.
        unsafe { barrier::wait(ident, gtid) };
        return 0;
    }
    loop {
        let before = epoch(thread, team);
        team.cancel.arrive(before);
        // SAFETY: the arguments are those of this entry, whose contract is the same.
        unsafe { barrier::wait(ident, gtid) };
        if !team.cancel.region_by(before) {
            return 0;
        }
        if team.cancel.arrivals(before) == u64::from(size) {
            dispatch::abandon(thread);
            thread.local().left.set(true);
            return 1;
        }
        // Some arrived through a barrier from which they do not leave: they arrive again at one
        // that they leave from.
    }
}

/// Implements the barrier at the end of a region, which is a cancellation point: threads that leave
/// a canceled region wait for all others, which may have reached the end already. A thread that has
/// left has already waited.
#[inline(always)]
pub fn end_of_region(thread: &Thread) {
    if settings().cancellation && !thread.local().left.take() {
        // SAFETY: the thread takes part in its team's region, at its end.
        unsafe { barrier(std::ptr::null(), thread.gtid) };
        thread.local().left.set(false);
    }
}

/// Returns 1 if a construct of this kind is to be left (`kmp_get_cancellation_status`).
pub unsafe extern "C-unwind" fn status(kind: i32) -> i32 {
    i32::from(requested(current(), kind))
}

/// [`status`] for Fortran.
///
/// # Safety
/// `kind` is valid.
pub unsafe extern "C-unwind" fn status_of(kind: *const i32) -> i32 {
    // SAFETY: `kind` is valid (caller's contract).
    i32::from(requested(current(), unsafe { *kind }))
}
