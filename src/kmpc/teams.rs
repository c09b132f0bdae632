//! `teams` on the host: a league of teams, each begun by an initial thread of its own.
//!
//! OpenMP 5.2, section 10.2.
//!
//! The initial threads are the members of one more team, the *league*, which is no parallel region:
//! it counts neither as a level nor as an active one. Each of them enters a team of one and
//! executes the construct there; parallel regions in it are ordinary ones, with workers of their
//! own. A league of one team needs no other thread and forms no league. If there are more teams
//! than processors, and `KMP_TEAMS_THREAD_LIMIT` does not ask for them, a member executes several
//! in turn: teams cannot synchronize with each other.
//!
//! Choices that the specification leaves open are libomp's: initial threads are spread over the
//! places (`KMP_TEAMS_PROC_BIND`), and the teams share the processors unless a number of threads is
//! given.

use std::ffi::c_void;

use crate::abi;
use crate::fork::{enter_alone, leave_serial, run_league};
use crate::icv::{self, Library, settings};
use crate::ident::Ident;
use crate::runtime::RUNTIME;
use crate::thread::{Thread, by_number, current};

/// Returns the default number of teams of the next league.
fn default_teams() -> u32 {
    let set = RUNTIME
        .icv
        .num_teams
        .load(std::sync::atomic::Ordering::Relaxed);
    if set > 0 {
        set as u32
    } else {
        at_most(settings().num_teams.max(1))
    }
}

/// Limits `teams` by `KMP_TEAMS_THREAD_LIMIT`.
fn at_most(teams: u32) -> u32 {
    settings()
        .kmp_teams_thread_limit
        .map_or(teams, |most| teams.min(most))
}

/// Returns the maximum number of threads that begin a league's teams: more than processors only if
/// the number of teams is limited explicitly.
fn most_starters() -> u32 {
    let set = settings();
    let most = match set.kmp_teams_thread_limit {
        Some(teams) => teams.min(icv::processors().saturating_mul(4).max(64)),
        None => icv::processors(),
    };
    match set.library {
        Library::Serial => 1,
        _ => most.min(set.device_thread_limit),
    }
}

/// Data for the initial threads of a league, in the frame of the thread that encountered the
/// construct.
struct League {
    ident: *const Ident,
    microtask: *const c_void,
    argc: u32,
    argv: *const *mut c_void,
    teams: u32,
    /// Number of threads that begin teams.
    starters: u32,
    /// The `thread_limit` clause; 0 if there is none.
    limit: u32,
    level: u32,
}

/// Executes `microtask` once per team of a league. `argv` holds `argc` pointers.
///
/// # Safety
/// As for [`fork::parallel`](crate::fork::parallel).
pub unsafe extern "C-unwind" fn fork(
    ident: *const Ident,
    argc: i32,
    microtask: *const c_void,
    argv: *const *mut c_void,
) {
    let thread = current();
    let (teams, limit) = thread.pushed_teams.replace((0, 0));
    let teams = if teams > 0 { teams } else { default_teams() };
    let mut league = League {
        ident,
        microtask,
        argc: argc as u32,
        argv,
        teams,
        starters: 1,
        limit,
        level: thread.team().shape().level,
    };
    if teams == 1 {
        // SAFETY: `argv` holds `argc` arguments of `microtask` (caller's contract).
        unsafe { league.execute(thread, 0) };
        return;
    }
    league.starters = teams.min(most_starters());
    let list = [(&raw mut league).cast::<c_void>()];
    // SAFETY: `member` is a microtask with one argument, which lives until the join.
    unsafe {
        let starters = league.starters;
        run_league(
            thread,
            ident,
            member as *const c_void,
            list.as_ptr(),
            starters,
        );
    }
}

/// Executes the share of one initial thread of a league.
unsafe extern "C-unwind" fn member(gtid: *const i32, _btid: *const i32, league: *const League) {
    // SAFETY: the runtime passes the thread's number and the league that `fork` created.
    let (thread, league) = unsafe { (by_number(*gtid), &*league) };
    // The number of members, which may be smaller than requested.
    let starters = thread.team().size();
    let mut team = thread.tid();
    while team < league.teams {
        // SAFETY: the caller of `fork` vouches for the microtask and its arguments.
        unsafe { league.execute(thread, team) };
        team += starters;
    }
}

impl League {
    /// Executes one team's part.
    ///
    /// # Safety
    /// The microtask takes these arguments.
    unsafe fn execute(&self, thread: &'static Thread, team: u32) {
        enter_alone(thread, self.ident, self.level, (self.teams, team));
        let _leave = Leave { thread };
        let mut icvs = thread.icvs.get();
        let limit = if self.limit > 0 {
            self.limit
        } else {
            icvs.teams_thread_limit.into()
        };
        let set = settings();
        if limit > 0 {
            icvs.thread_limit = icvs.thread_limit.min(limit);
            icvs.nthreads = icvs.threads().min(limit);
        } else if self.teams > 1 && set.nthreads.is_empty() && icvs.threads() == icv::processors() {
            icvs.nthreads = (icv::processors() / self.teams).max(1);
        }
        if let Some(most) = set.kmp_teams_thread_limit {
            icvs.nthreads = icvs.threads().min((most / self.teams).max(1));
        }
        thread.icvs.set(icvs);
        let zero = 0;
        // SAFETY: the microtask takes these arguments (caller's contract).
        unsafe { abi::call_microtask(self.microtask, &thread.gtid, &zero, self.argc, self.argv) };
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
        .set((at_most(teams.max(0) as u32), threads.max(0) as u32));
}

/// Like [`push_num_teams`], with a lower bound for the number of teams. It is the number itself if
/// the two are equal or only one is given.
pub unsafe extern "C-unwind" fn push_num_teams_bounds(
    _ident: *const Ident,
    gtid: i32,
    lower: i32,
    upper: i32,
    threads: i32,
) {
    let (lower, upper) = (lower.max(0) as u32, upper.max(0) as u32);
    let threads = threads.max(0) as u32;
    let teams = match settings().kmp_teams_thread_limit {
        Some(most) if lower > 0 && lower < upper => match most.checked_div(threads) {
            Some(teams) => teams.clamp(lower, upper),
            None if upper > most => lower,
            None => upper,
        },
        _ => upper,
    };
    by_number(gtid).pushed_teams.set((teams, threads));
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
