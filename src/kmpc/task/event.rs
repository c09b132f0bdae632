//! Tasks that are complete only when somebody says so: `detach` with `omp_fulfill_event`, and
//! libomp's proxy tasks. OpenMP 5.2, sections 12.5.2 and 18.11.
//!
//! The event is the task itself. Its word tells which of the two things has happened, the end of the
//! routine or the fulfilment; who does the second completes the task, be it a thread of the team,
//! of another one, or of none.

use std::sync::atomic::Ordering;

use super::{Payload, Task, flag, run, wait};
use crate::kmpc::ident::Ident;
use crate::kmpc::thread;

/// The routine has returned.
const ENDED: u32 = 1;
/// The event was fulfilled.
const FULFILLED: u32 = 2;

impl Task {
    /// Whether the end of its routine does not complete it.
    #[inline(always)]
    pub fn completes_later(&self) -> bool {
        self.flags.get() & (flag::DETACHED | flag::PROXY) != 0
    }

    /// Notes the routine's end; whether the event was fulfilled before.
    pub fn end_of_routine(&self) -> bool {
        // AcqRel: the second of the two sees what was done before the first.
        self.event.fetch_or(ENDED, Ordering::AcqRel) & FULFILLED != 0
    }
}

/// The event of a task with a `detach` clause.
pub unsafe extern "C-unwind" fn of_task(
    _ident: *const Ident,
    _gtid: i32,
    payload: *mut Payload,
) -> usize {
    // SAFETY: a payload that the compiler got from us.
    unsafe { Task::of(payload) }.expose_provenance()
}

/// `omp_fulfill_event`.
///
/// # Safety
/// An event of a task that has not been fulfilled.
pub unsafe extern "C-unwind" fn fulfill(event: usize) {
    let task = std::ptr::with_exposed_provenance_mut::<Task>(event);
    // SAFETY: the caller's contract; the task waits for us.
    let Some(t) = (unsafe { task.as_ref() }) else {
        return;
    };
    let team = t.team.get();
    // SAFETY: the team waits for the task.
    let team_ref = unsafe { &*team };
    let member = thread::current_if_known().filter(|thread| std::ptr::eq(thread.team(), team));
    if member.is_none() {
        // The region's end waits for the task, and from here on for us.
        team_ref.tasks.interval.come();
    }
    // AcqRel: as in `end_of_routine`.
    if t.event.fetch_or(FULFILLED, Ordering::AcqRel) & ENDED != 0 {
        // SAFETY: both have happened, and we are the second.
        unsafe { run::complete(member, team_ref, task) };
    }
    if member.is_none() {
        wait::pulse(team_ref);
        team_ref.tasks.interval.go();
    }
}

/// A proxy task was completed; `gtid` is a thread of its team.
pub unsafe extern "C-unwind" fn proxy_completed(_gtid: i32, payload: *mut Payload) {
    // SAFETY: a payload that the compiler got from us.
    unsafe { fulfill(Task::of(payload).expose_provenance()) };
}

/// A proxy task was completed, by any thread.
pub unsafe extern "C-unwind" fn proxy_completed_anywhere(payload: *mut Payload) {
    // SAFETY: as above.
    unsafe { fulfill(Task::of(payload).expose_provenance()) };
}
