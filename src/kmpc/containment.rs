//! Contained regions: a fault of one member ends the region for all of its members, and returns to
//! the master's caller.
//!
//! A region is contained if a fault of its master would return to an embedder
//! ([`activation::catches_traps`]). Each member runs the region inside an activation of its own. The
//! first fault is the region's [`Failure`]. Its thread interrupts the other members until all have
//! left ([`ompvm_memory::interrupt`]). A team that failed is not used again, so its barriers, loops
//! and tasks stay as they are. The master then passes the fault on, through the regions around.
//!
//! A member that stays in a function of the host or in the C library, or waits for a lock, is waited
//! for. If it stays for longer than [`PATIENCE`] the process ends, as it does for a fault
//! that nothing contains: the member may go on to use what the embedder frees.

use crate::team::Team;
use crate::thread::{Thread, current_if_known};
use crate::{abi, cancel, task, waits};
use ompvm_memory::activation::{self, RawTrap};
use ompvm_memory::{interrupt, signals};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::{Duration, Instant};

/// Time for which members of a failed region may stay in code that cannot be left.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time between two interrupts of the same member.
const PERIOD: Duration = Duration::from_micros(200);

/// The fault that ended a region.
#[derive(Debug, Default)]
pub struct Failure {
    /// 0: none, 1: one is being written, 2: `trap` is valid.
    state: AtomicU32,
    trap: UnsafeCell<Option<RawTrap>>,
}

// SAFETY: one thread writes the fault, before the state 2 that readers wait for.
unsafe impl Sync for Failure {}
// SAFETY: the position in a fault is an address that any thread may look up.
unsafe impl Send for Failure {}

impl Failure {
    /// Returns true if a member of the region faulted.
    #[inline]
    pub fn happened(&self) -> bool {
        self.state.load(Ordering::Acquire) != 0
    }

    /// Records a fault. Returns true if it is the region's first.
    pub fn begin(&self, trap: RawTrap) -> bool {
        let first = self
            .state
            .compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok();
        if first {
            // SAFETY: only this thread changed the state to 1, and readers wait for 2.
            unsafe { *self.trap.get() = Some(trap) };
            self.state.store(2, Ordering::Release);
        }
        first
    }

    /// Returns the region's fault, which has happened.
    fn trap(&self) -> RawTrap {
        loop {
            if self.state.load(Ordering::Acquire) == 2 {
                // SAFETY: the fault is written, and not changed again.
                if let Some(trap) = unsafe { *self.trap.get() } {
                    return trap;
                }
            }
            std::hint::spin_loop();
        }
    }
}

/// Registers what interrupts ask about the calling thread.
pub fn install() {
    interrupt::set_team_hooks(interrupt::TeamHooks {
        failed: || current_if_known().is_some_and(|thread| failed(thread.team())),
        leave_wait: waits::leave,
    });
    interrupt::install();
}

/// Returns true if a team or one around it failed.
fn failed(mut team: &Team) -> bool {
    loop {
        if team.failure.happened() {
            return true;
        }
        // SAFETY: null, or the team around the region, which lives as long as the region.
        match unsafe { team.shape().parent.as_ref() } {
            Some(outer) => team = outer,
            None => return false,
        }
    }
}

/// Runs a worker's part of a contained region. Returns true if the region goes on to its join.
///
/// # Safety
/// The worker takes part with number `tid` in the team's region `number` of `size` members.
pub unsafe fn follow(thread: &Thread, team: &Team, tid: u32, number: u32, size: u32) -> bool {
    let work = team.work();
    let id = tid as i32;
    // SAFETY: the worker's own slot.
    let local = unsafe { &team.slot(tid).local };
    let system = waits::system_number(thread.gtid);
    local.system.store(system, Ordering::Relaxed);
    local.finished.store(0, Ordering::Relaxed);
    let run = || {
        // SAFETY: the master passed a microtask and its arguments, which live until the region is
        // left.
        unsafe {
            abi::call_microtask(work.microtask, &thread.gtid, &id, work.argc, work.args());
        }
        cancel::end_of_region(thread);
    };
    let result = match team.failure.happened() {
        true => Ok(()),
        // SAFETY: a microtask may be left by a jump, as faults leave it in every tier.
        false => unsafe { activation::contain(run) },
    };
    let began = result.is_err_and(|trap| team.failure.begin(trap));
    let joins = !team.failure.happened();
    if began {
        // SAFETY: the worker's own number; the team is not dismissed before it returns.
        unsafe { end(team, tid, number, size, true) };
    } else {
        let finish = |local: &crate::team::MemberState| {
            local.finished.store(number, Ordering::Release);
        };
        // SAFETY: the worker's own number.
        unsafe { team.core.finish_member(tid, joins, finish) };
    }
    joins
}

/// Executes tasks of a contained region that a worker has left. Returns false if the region failed.
///
/// # Safety
/// As for [`follow`]; the worker left the region by the join `joined`.
pub unsafe fn help(thread: &Thread, team: &Team, tid: u32, number: u32, joined: u64) -> bool {
    // SAFETY: the worker's own slot.
    let local = unsafe { &team.slot(tid).local };
    local.finished.store(0, Ordering::SeqCst);
    // Either this thread sees the failure, or the one that ends the region sees this thread.
    fence(Ordering::SeqCst);
    let mut began = false;
    if !team.failure.happened() {
        let help = || {
            // SAFETY: the worker's last barrier was the join with this number.
            unsafe { task::wait::help_after_join(thread, team, joined) }
        };
        // SAFETY: tasks may be left by a jump.
        let result = unsafe { activation::contain(help) };
        began = result.is_err_and(|trap| team.failure.begin(trap));
    }
    let goes_on = !team.failure.happened();
    if began {
        // SAFETY: the master waits for the region's tasks, or for this thread.
        unsafe { end(team, tid, number, team.size(), true) };
    } else {
        local.finished.store(number, Ordering::Release);
    }
    goes_on
}

/// Leaves a region that failed, and waits for the other members if the caller is the master or
/// began the failure, which interrupts them. Returns the region's fault.
///
/// # Safety
/// The caller takes part with number `tid` in the running region `number` of `size` members.
pub unsafe fn end(team: &Team, tid: u32, number: u32, size: u32, interrupts: bool) -> RawTrap {
    let trap = team.failure.trap();
    // SAFETY: the caller's own number and the region's size; the caller keeps the team alive.
    let member = |tid| unsafe { &team.slot(tid).local };
    let begun = Instant::now();
    // SAFETY: the caller's own number.
    unsafe {
        team.core.finish_member(tid, false, |local| {
            local.finished.store(number, Ordering::Release);
        });
    }
    loop {
        let mut all = true;
        for other in (0..size).filter(|&other| other != tid) {
            if member(other).finished.load(Ordering::Acquire) != number {
                all = false;
                if interrupts {
                    interrupt::send(member(other).system.load(Ordering::Relaxed));
                }
            }
        }
        if all {
            return trap;
        }
        if begun.elapsed() > PATIENCE {
            signals::end_process(trap);
        }
        std::thread::sleep(PERIOD);
    }
}
