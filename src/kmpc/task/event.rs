//! Tasks that are complete only when reported: `detach` with `omp_fulfill_event`, and libomp's
//! proxy tasks. OpenMP 5.2, sections 12.5.2 and 18.11.
//!
//! The event is the task itself. A word of the task records two happenings: the end of the routine
//! and the fulfillment. The thread that records the second one completes the task, whether it
//! belongs to the team, to another one, or to none.

use std::sync::atomic::Ordering;

use super::{Payload, Task, execution, flag, wait};
use crate::ident::Ident;

/// The routine has returned.
const ENDED: u32 = 1;
/// The event was fulfilled.
const FULFILLED: u32 = 2;

impl Task {
    /// Returns true if the end of the routine does not complete the task.
    #[inline(always)]
    pub fn completes_later(&self) -> bool {
        self.flags.get() & (flag::DETACHED | flag::PROXY) != 0
    }

    /// Records the end of the routine. Returns true if the event was fulfilled before.
    pub fn end_of_routine(&self) -> bool {
        // AcqRel: the second thread sees the effects that precede the first one's record.
        self.event.fetch_or(ENDED, Ordering::AcqRel) & FULFILLED != 0
    }
}

/// Returns the event of a task with a `detach` clause.
pub unsafe extern "C-unwind" fn of_task(
    _ident: *const Ident,
    _gtid: i32,
    payload: *mut Payload,
) -> usize {
    // SAFETY: the compiler passes a payload that `alloc` returned.
    unsafe { Task::from_payload(payload) }.expose_provenance()
}

/// Fulfills an event (`omp_fulfill_event`).
///
/// May be called in a signal handler, as programs do although OpenMP does not promise it.
///
/// # Safety
/// `event` belongs to a task and has not been fulfilled.
pub unsafe extern "C-unwind" fn fulfill(event: usize) {
    let task = std::ptr::with_exposed_provenance_mut::<Task>(event);
    // SAFETY: null, or a task that waits for this fulfillment (caller's contract).
    let Some(t) = (unsafe { task.as_ref() }) else {
        return;
    };
    // SAFETY: the team waits for the task.
    let team = unsafe { &*t.team.get() };
    // The region's end waits for the task, and from here on for this visitor. A member of the team
    // is a visitor, too: it may be in a signal handler in the middle of its own bookkeeping, or of
    // a wait after which it notifies nobody.
    team.tasks.epoch.begin_visit();
    // AcqRel: as in `end_of_routine`.
    if t.event.fetch_or(FULFILLED, Ordering::AcqRel) & ENDED != 0 {
        // SAFETY: the routine has ended and the event is fulfilled; only the second of both
        // completes.
        unsafe { execution::complete(None, team, task) };
    }
    wait::notify_master(team);
    team.tasks.epoch.end_visit();
}

/// Reports that a proxy task is complete; `gtid` is a thread of its team.
pub unsafe extern "C-unwind" fn proxy_completed(_gtid: i32, payload: *mut Payload) {
    // SAFETY: the compiler passes a payload that `alloc` returned, of a task not reported yet.
    unsafe { fulfill(Task::from_payload(payload).expose_provenance()) };
}

/// Reports that a proxy task is complete, from any thread.
pub unsafe extern "C-unwind" fn proxy_completed_anywhere(payload: *mut Payload) {
    // SAFETY: the compiler passes a payload that `alloc` returned, of a task not reported yet.
    unsafe { fulfill(Task::from_payload(payload).expose_provenance()) };
}
