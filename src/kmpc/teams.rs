//! `teams` on the host: a league whose teams run one after the other.
//! OpenMP 5.2, section 10.2. Teams cannot synchronise with each other, so order is free.

use std::ffi::c_void;

use crate::kmpc::abi;
use crate::kmpc::fork::{enter_alone, leave_serial};
use crate::kmpc::icv::{self, settings};
use crate::kmpc::ident::Ident;
use crate::kmpc::thread::{Thread, by_number, current};

/// Teams of the next league where the construct does not say.
fn default_teams() -> u32 {
    let set = icv::NUM_TEAMS.load(std::sync::atomic::Ordering::Relaxed);
    if set > 0 {
        set as u32
    } else {
        settings().num_teams.max(1)
    }
}

/// Executes `microtask` once per team of a league. `argv` holds `argc` pointers.
///
/// # Safety
/// As for [`fork::parallel`](crate::kmpc::fork::parallel).
pub unsafe extern "C-unwind" fn fork(
    ident: *const Ident,
    argc: i32,
    microtask: *const c_void,
    argv: *const *mut c_void,
) {
    let thread = current();
    let (teams, limit) = thread.pushed_teams.replace((0, 0));
    let teams = if teams > 0 { teams } else { default_teams() };
    let level = thread.team().shape().level;
    for team in 0..teams {
        enter_alone(thread, ident, level, (teams, team));
        let _leave = Leave { thread };
        let mut icvs = thread.icvs.get();
        let limit = if limit > 0 {
            limit
        } else {
            icvs.teams_thread_limit.into()
        };
        if limit > 0 {
            icvs.thread_limit = icvs.thread_limit.min(limit);
            icvs.nthreads = icvs.nthreads.min(limit);
            thread.icvs.set(icvs);
        }
        let zero = 0;
        // SAFETY: the caller's contract.
        unsafe { abi::call_microtask(microtask, &thread.gtid, &zero, argc as u32, argv) };
    }
}

struct Leave {
    thread: &'static Thread,
}

impl Drop for Leave {
    fn drop(&mut self) {
        leave_serial(self.thread);
    }
}

/// Sets the `num_teams` and `thread_limit` clauses of the next league.
pub unsafe extern "C-unwind" fn push_num_teams(
    _ident: *const Ident,
    gtid: i32,
    teams: i32,
    threads: i32,
) {
    by_number(gtid)
        .pushed_teams
        .set((teams.max(0) as u32, threads.max(0) as u32));
}

/// As [`push_num_teams`] with a lower bound for the number of teams.
pub unsafe extern "C-unwind" fn push_num_teams_bounds(
    _ident: *const Ident,
    gtid: i32,
    _lower: i32,
    upper: i32,
    threads: i32,
) {
    by_number(gtid)
        .pushed_teams
        .set((upper.max(0) as u32, threads.max(0) as u32));
}

/// Sets the thread limit of the current task.
pub unsafe extern "C-unwind" fn set_thread_limit(_ident: *const Ident, gtid: i32, limit: i32) {
    let thread = by_number(gtid);
    if limit > 0 {
        let mut icvs = thread.icvs.get();
        icvs.thread_limit = limit as u32;
        thread.icvs.set(icvs);
    }
}
