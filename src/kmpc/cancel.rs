//! Cancellation of parallel regions, loops, sections and taskgroups. OpenMP 5.2, chapter 16.
//!
//! It works where `OMP_CANCELLATION` is true; elsewhere no request is taken. What a team shares is
//! a [`Requests`]; nothing in it is ever withdrawn while a region runs, because each request
//! carries the number of meetings (the epoch, see `team/README.md`) that its thread had come to:
//!
//! - A **loop or sections** construct ends with a barrier, so a request for one counts as long as a
//!   thread's epoch is the request's, and is void for all constructs that follow.
//! - A **region** is left through a barrier too: the compiler has the thread that a request was
//!   told call `__kmpc_cancel_barrier` before it leaves, and the others leave from their next one. After a
//!   barrier all agree whether a request was made before it (its epoch is not above the one before
//!   the barrier), so all leave there or none. Those that came to the meeting by a barrier that is
//!   no cancellation point, in a function that knows nothing of the region it is called from, must
//!   be met once more: arrivals at cancellable barriers are counted, and the region is left when all
//!   the meeting's were. The count is tagged with the epoch; two alternate, since one is written
//!   for the epoch after the next only when every thread has read it.
//!
//! The region's end is such a barrier where cancellation is on: who leaves waits for all others, and they
//! may have come there without another cancellation point.
//!
//! A thread that leaves a dispatched loop early gives its place there back, so that the loop's
//! buffer comes free; a region that was left has its buffers made as new by its master.
//!
//! A cancelled taskgroup, and a cancelled region, execute no task that has not begun (`task::run`).
//!
//! What not: barriers inside a construct that only some threads have left.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::kmpc::barrier;
use crate::kmpc::dispatch;
use crate::kmpc::icv::settings;
use crate::kmpc::ident::Ident;
use crate::kmpc::task::{self, Group};
use crate::kmpc::team::Team;
use crate::kmpc::thread::{Thread, by_number, current};
use crate::support::sync::fence;

/// What is cancelled, as the compiler numbers it.
mod kind {
    pub const PARALLEL: i32 = 1;
    pub const LOOP: i32 = 2;
    pub const SECTIONS: i32 = 3;
    pub const TASKGROUP: i32 = 4;
}

/// What the threads of a team have asked to cancel.
#[derive(Debug, Default)]
pub struct Requests {
    /// The region: 0, or 1 + the epoch of the first to ask.
    region: AtomicU64,
    /// A worksharing construct: 0, or epoch << 2 | kind of the last.
    construct: AtomicU64,
    /// epoch << 16 | threads that came to a cancellable barrier, for even and odd epochs.
    arrived: [AtomicU64; 2],
}

impl Requests {
    /// Whether the region was asked to be cancelled by a thread at this epoch, or an earlier one.
    fn region_by(&self, epoch: u64) -> bool {
        let request = self.region.load(Ordering::Acquire);
        request != 0 && request - 1 <= epoch
    }

    /// Whether anything was asked for in the region.
    pub fn any(&self) -> bool {
        self.region.load(Ordering::Relaxed) != 0
    }

    /// Forgets all. No region runs.
    pub fn clear(&self) {
        self.region.store(0, Ordering::Relaxed);
        // A request for a construct is void with its epoch, and so is a count.
    }

    /// Counts an arrival at the cancellable barrier that ends this epoch.
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

    /// The arrivals there. The barrier is past, and the next one not reached.
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
    unsafe { team.gang.epoch(thread.tid()) }
}

/// Asks to cancel the innermost construct of this kind; 1 where the thread is to leave it.
pub unsafe extern "C-unwind" fn request(_ident: *const Ident, gtid: i32, kind: i32) -> i32 {
    if !settings().cancellation {
        return 0;
    }
    let thread = by_number(gtid);
    let team = thread.team();
    // A thread alone just leaves: nobody else has to be told.
    let alone = team.size() == 1;
    let requests = &team.cancel;
    match kind {
        kind::PARALLEL if !alone => {
            let mine = epoch(thread, team) + 1;
            let order = Ordering::AcqRel;
            let _ = requests
                .region
                .compare_exchange(0, mine, order, Ordering::Relaxed);
            // Who sleeps until an iteration of others' is over looks again.
            fence(Ordering::SeqCst);
            // SAFETY: we take part in the region.
            unsafe { team.gang.wake_all(team.size()) };
        }
        kind::LOOP | kind::SECTIONS if !alone => {
            let mine = epoch(thread, team) << 2 | kind as u64;
            requests.construct.store(mine, Ordering::Release);
        }
        kind::PARALLEL | kind::LOOP | kind::SECTIONS => {}
        kind::TASKGROUP => {
            let Some(group) = group(thread) else { return 0 };
            group.cancelled.store(true, Ordering::Release);
            return 1;
        }
        _ => return 0,
    }
    dispatch::abandon(thread);
    1
}

/// The innermost taskgroup around the thread.
fn group(thread: &Thread) -> Option<&Group> {
    // SAFETY: the task that the thread executes, whose groups live at least as long.
    unsafe { (*task::create::current(thread)).group.get().as_ref() }
}

/// Whether a construct of this kind, around the thread, is to be left.
fn requested(thread: &Thread, kind: i32) -> bool {
    let team = thread.team();
    let requests = &team.cancel;
    if !settings().cancellation {
        return false;
    }
    if kind == kind::TASKGROUP {
        return group(thread).is_some_and(|group| group.cancelled.load(Ordering::Acquire));
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

/// A cancellation point: 1 where the innermost construct of this kind is to be left.
pub unsafe extern "C-unwind" fn point(_ident: *const Ident, gtid: i32, kind: i32) -> i32 {
    let thread = by_number(gtid);
    let leave = requested(thread, kind);
    if leave && kind != kind::TASKGROUP {
        dispatch::abandon(thread);
    }
    i32::from(leave)
}

/// A barrier that is a cancellation point: 1 where the region is to be left.
pub unsafe extern "C-unwind" fn barrier(ident: *const Ident, gtid: i32) -> i32 {
    let thread = by_number(gtid);
    let team = thread.team();
    let size = team.size();
    if !settings().cancellation || size == 1 {
        // SAFETY: the caller's contract.
        unsafe { barrier::wait(ident, gtid) };
        return 0;
    }
    loop {
        let before = epoch(thread, team);
        team.cancel.arrive(before);
        // SAFETY: the caller's contract.
        unsafe { barrier::wait(ident, gtid) };
        if !team.cancel.region_by(before) {
            return 0;
        }
        if team.cancel.arrivals(before) == u64::from(size) {
            dispatch::abandon(thread);
            thread.local().left.set(true);
            return 1;
        }
        // Some came by a barrier that they do not leave from: they are met where they do.
    }
}

/// The barrier at a region's end, which is a cancellation point: those that leave a cancelled region
/// wait for all others, which may have come to the end already. Who has left met them before.
#[inline(always)]
pub fn end_of_region(thread: &Thread) {
    if settings().cancellation && !thread.local().left.take() {
        // SAFETY: the thread takes part in its team's region, and does nothing more there.
        unsafe { barrier(std::ptr::null(), thread.gtid) };
        thread.local().left.set(false);
    }
}

/// `kmp_get_cancellation_status`: whether a construct of this kind is to be left.
pub unsafe extern "C-unwind" fn status(kind: i32) -> i32 {
    i32::from(requested(current(), kind))
}

/// [`status`] for Fortran.
///
/// # Safety
/// `kind` is valid.
pub unsafe extern "C-unwind" fn status_of(kind: *const i32) -> i32 {
    // SAFETY: the caller's contract.
    i32::from(requested(current(), unsafe { *kind }))
}
