//! Traced parallel regions and leagues of teams. OpenMP 5.2, sections 10.1 and 10.2.
//!
//! The region's microtask is wrapped: its threads execute [`member`], which reports the implicit
//! task and calls the program's microtask. So the runtime's own fork and join are unchanged.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::callbacks::{self, BEGIN};
use super::record::{self, RegionRecord, TaskRecord, ThreadRecord, enter_entry, flag, state};
use crate::abi;
use crate::fork::{self as untraced};
use crate::ident::Ident;
use crate::teams;
use crate::thread::{Thread, by_number, current};

/// `ompt_parallel_invoker_runtime | ompt_parallel_team`.
const TEAM: u32 = 0x8000_0002;
/// `ompt_parallel_invoker_runtime | ompt_parallel_league`.
const LEAGUE: u32 = 0x4000_0002;

/// Data for the members of a region, in the frame of the forking thread.
struct Region {
    microtask: *const c_void,
    argc: u32,
    argv: *const *mut c_void,
    parallel: Arc<RegionRecord>,
    outer: Arc<TaskRecord>,
    code: usize,
}

/// Makes the task that forked the current one again, also if the region is left by unwinding.
struct Back {
    me: &'static ThreadRecord,
    task: Option<Arc<TaskRecord>>,
}

impl Drop for Back {
    fn drop(&mut self) {
        self.me.joined();
        self.me.set_task(self.task.take());
    }
}

/// Returns the number of threads that the next region requests.
fn requested(thread: &Thread) -> u32 {
    match thread.pushed_threads.get() {
        0 => thread.icvs.get().threads(),
        pushed => pushed,
    }
}

/// Reports a region around `run`, which executes [`member`] with the argument list that it
/// receives.
unsafe fn region(
    flags: u32,
    requested: u32,
    argc: u32,
    microtask: *const c_void,
    argv: *const *mut c_void,
    run: impl FnOnce(*const *mut c_void),
) {
    let at = enter_entry(Some(state::OVERHEAD));
    let outer = at.task.clone();
    let parallel = RegionRecord::new(1, Some(outer.parallel.clone()));
    callbacks::parallel_begin(
        outer.data(),
        outer.frame(),
        parallel.data(),
        requested,
        flags,
        at.code,
    );
    let mut packed = Region {
        microtask,
        argc,
        argv,
        parallel: parallel.clone(),
        outer: outer.clone(),
        code: at.code,
    };
    let list = [(&raw mut packed).cast::<c_void>()];
    {
        let back = Back {
            me: at.me,
            task: at.me.task().cloned(),
        };
        run(list.as_ptr());
        if flags == TEAM
            && parallel.size.load(Ordering::Relaxed) > 1
            && let Some(task) = back.me.task().cloned()
        {
            record::leave_join(&task, at.code);
        }
    }
    at.me.state.set(state::OVERHEAD);
    callbacks::parallel_end(parallel.data(), outer.data(), flags, at.code);
}

/// Executes a region on one of its threads, in place of the microtask.
unsafe extern "C-unwind" fn member(gtid: *const i32, btid: *const i32, region: *const Region) {
    // SAFETY: the runtime passes the numbers and the argument list of `region`, which lives until
    // the thread has joined.
    let (region, thread) = unsafe { (&*region, by_number(*gtid)) };
    let me = record::current();
    let size = thread.team().size();
    region.parallel.size.store(size, Ordering::Relaxed);
    let task = TaskRecord::new(
        flag::IMPLICIT,
        region.parallel.clone(),
        Some(region.outer.clone()),
    );
    task.number.set(thread.tid());
    if size == 1 {
        // Its tasks are executed where they are encountered.
        task.flags.set(flag::IMPLICIT | flag::UNDEFERRED);
    }
    let task = Arc::new(task);
    callbacks::implicit_task(
        BEGIN,
        region.parallel.data(),
        task.data(),
        size,
        thread.tid(),
        flag::IMPLICIT,
    );
    me.set_task(Some(task.clone()));
    me.state.set(state::PARALLEL);
    // SAFETY: calls the program's microtask with its own arguments.
    unsafe {
        abi::call_microtask_noting(
            region.microtask,
            gtid,
            btid,
            region.argc,
            region.argv,
            task.exit_slot(),
        );
    }
    task.set_exit(0);
    if size > 1 {
        let code = if thread.tid() == 0 { region.code } else { 0 };
        record::enter_join(me, &task, code);
    } else {
        record::implicit_ends(&task);
    }
}

/// Executes one team of a league, in place of the microtask.
unsafe extern "C-unwind" fn team(gtid: *const i32, btid: *const i32, region: *const Region) {
    // SAFETY: the runtime passes the numbers and the argument list of `region`, which lives until
    // the thread has joined.
    let (region, thread) = unsafe { (&*region, by_number(*gtid)) };
    let me = record::current();
    let league = thread.team().shape().league;
    region.parallel.size.store(league.0, Ordering::Relaxed);
    let task = TaskRecord::new(
        flag::INITIAL,
        region.parallel.clone(),
        Some(region.outer.clone()),
    );
    task.number.set(league.1);
    let task = Arc::new(task);
    let (data, flags) = (task.data(), flag::INITIAL);
    callbacks::implicit_task(
        BEGIN,
        region.parallel.data(),
        data,
        league.0,
        league.1,
        flags,
    );
    let before = me.set_task(Some(task.clone()));
    // The team's own region, of one thread, as libomp reports it.
    let own = RegionRecord::new(1, Some(region.parallel.clone()));
    let requested = thread.icvs.get().threads();
    let (data, frame) = (task.data(), task.frame());
    callbacks::parallel_begin(data, frame, own.data(), requested, TEAM, region.code);
    let implicit = Arc::new(TaskRecord::new(
        flag::IMPLICIT | flag::UNDEFERRED,
        own.clone(),
        Some(task.clone()),
    ));
    callbacks::implicit_task(BEGIN, own.data(), implicit.data(), 1, 0, flag::IMPLICIT);
    me.set_task(Some(implicit.clone()));
    me.state.set(state::PARALLEL);
    // SAFETY: calls the program's microtask with its own arguments.
    unsafe {
        abi::call_microtask_noting(
            region.microtask,
            gtid,
            btid,
            region.argc,
            region.argv,
            implicit.exit_slot(),
        );
    }
    implicit.set_exit(0);
    record::implicit_ends(&implicit);
    callbacks::parallel_end(own.data(), task.data(), TEAM, region.code);
    record::implicit_ends(&task);
    me.set_task(before);
}

/// Implements `__kmpc_fork_call` with its arguments as an array.
///
/// # Safety
/// As for [`untraced::parallel`].
pub unsafe extern "C-unwind" fn fork(
    ident: *const Ident,
    argc: i32,
    microtask: *const c_void,
    argv: *const *mut c_void,
) {
    let requested = requested(current());
    // SAFETY: the arguments are those of this entry; `member` is a microtask with one argument.
    unsafe {
        region(TEAM, requested, argc as u32, microtask, argv, |list| {
            untraced::parallel(ident, 1, member as *const c_void, list)
        });
    }
}

/// Implements `__kmpc_fork_call_if`.
///
/// # Safety
/// As for [`untraced::parallel_if`].
pub unsafe extern "C-unwind" fn fork_if(
    ident: *const Ident,
    argc: i32,
    microtask: *const c_void,
    condition: i32,
    argument: *mut c_void,
) {
    let requested = requested(current());
    let (argc, argv) = (argc.min(1) as u32, [argument]);
    // SAFETY: the arguments are those of this entry; `member` is a microtask with one argument.
    unsafe {
        region(TEAM, requested, argc, microtask, argv.as_ptr(), |list| {
            untraced::parallel_if(ident, 1, member as *const c_void, condition, *list)
        });
    }
}

/// Implements `__kmpc_fork_teams` with its arguments as an array.
///
/// # Safety
/// As for [`teams::fork`].
pub unsafe extern "C-unwind" fn fork_teams(
    ident: *const Ident,
    argc: i32,
    microtask: *const c_void,
    argv: *const *mut c_void,
) {
    let requested = current().pushed_teams.get().0.max(1);
    // SAFETY: the arguments are those of this entry; `team` is a microtask with one argument.
    unsafe {
        region(LEAGUE, requested, argc as u32, microtask, argv, |list| {
            teams::fork(ident, 1, team as *const c_void, list)
        });
    }
}

/// Implements `__kmpc_serialized_parallel`.
pub unsafe extern "C-unwind" fn begin_serialized(ident: *const Ident, gtid: i32) {
    let at = enter_entry(None);
    let frame = at.me.frame.get();
    let outer = at.task.clone();
    let parallel = RegionRecord::new(1, Some(outer.parallel.clone()));
    callbacks::parallel_begin(
        outer.data(),
        outer.frame(),
        parallel.data(),
        1,
        TEAM,
        at.code,
    );
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { untraced::begin_serialized(ident, gtid) };
    let me = at.me;
    // The task stays marked as in the runtime until the region's end.
    std::mem::forget(at);
    let task = Arc::new(TaskRecord::new(
        flag::IMPLICIT | flag::UNDEFERRED,
        parallel,
        Some(outer),
    ));
    let words = (task.parallel.data(), task.data());
    callbacks::implicit_task(BEGIN, words.0, words.1, 1, 0, flag::IMPLICIT);
    task.set_exit(frame);
    me.set_task(Some(task));
    me.state.set(state::PARALLEL);
}

/// Implements `__kmpc_end_serialized_parallel`.
pub unsafe extern "C-unwind" fn end_serialized(ident: *const Ident, gtid: i32) {
    let me = record::current();
    let code = me.code.get();
    let task = me.task().cloned();
    if let Some(task) = &task {
        task.set_exit(0);
    }
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { untraced::end_serialized(ident, gtid) };
    if let Some(task) = task
        && let Some(outer) = task.outer().cloned()
    {
        record::implicit_ends(&task);
        callbacks::parallel_end(task.parallel.data(), outer.data(), TEAM, code);
        // SAFETY: this thread's own frame, marked by `begin_serialized`.
        unsafe { (*outer.frame()).enter = 0 };
        let parallel = outer.flags.get() & flag::INITIAL == 0;
        me.state.set(if parallel {
            state::PARALLEL
        } else {
            state::SERIAL
        });
        me.set_task(Some(outer));
    }
}
