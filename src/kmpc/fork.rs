//! Parallel regions: team size, launch, join; serialized regions.
//!
//! OpenMP 5.2, sections 10.1 (parallel), 10.1.1 (number of threads).
//!
//! The master chooses the size of the team, attaches workers, writes the region's description and
//! starts it; it runs the microtask itself and joins. A hook may first run the region elsewhere
//! ([`hooks::region_interceptor`](super::hooks::region_interceptor)). A region of one thread runs
//! on a team of one without a start.
//!
//! [`team`](super::team) holds the synchronization, [`thread`] the workers.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::abi;
use crate::affinity::partition::PlaceAssignment;
use crate::affinity::{self, DISPLAY};
use crate::cancel;
use crate::containment;
use crate::icv::{self, Icvs, NestedThreads, settings};
use crate::ident::Ident;
use crate::runtime::RUNTIME;
use crate::task::wait::{EpochWork, await_visitors, drain};
use crate::team::parker::SpinPolicy;
use crate::team::team_core::{BarrierAlgorithm, choose_barrier_algorithm};
use crate::team::{MemberState, Shape, Team, Work};
use crate::thread::{self, Thread, by_number, current};
use crate::waits;
use ompvm_memory::activation;
use ompvm_support::fp_env::FpControl;
use ompvm_support::message::{Kind, Message};

/// Executes `microtask` in a new team. `argv` holds `argc` pointers.
///
/// # Safety
/// `microtask` is a `void(i32*, i32*, argc pointers)` that may run on several threads at once.
pub unsafe extern "C-unwind" fn parallel(
    ident: *const Ident,
    argc: i32,
    microtask: *const c_void,
    argv: *const *mut c_void,
) {
    if let Some(run) = super::hooks::region_interceptor() {
        // SAFETY: `argv` holds `argc` arguments of `microtask` (caller's contract).
        if unsafe { try_intercept(run, ident, argc, microtask, argv) } {
            return;
        }
    }
    // SAFETY: `argv` holds `argc` arguments of `microtask` (caller's contract).
    unsafe { fork_team(ident, argc, microtask, argv) };
}

/// Like [`parallel`], but always on a team of threads.
///
/// # Safety
/// As for [`parallel`].
pub unsafe fn fork_team(
    ident: *const Ident,
    argc: i32,
    microtask: *const c_void,
    argv: *const *mut c_void,
) {
    let thread = current();
    let size = team_size(thread);
    // SAFETY: `argv` holds `argc` arguments of `microtask` (caller's contract).
    unsafe {
        run_region(
            thread,
            ident,
            argc as u32,
            microtask,
            argv,
            size,
            TeamPurpose::Region,
        )
    };
}

/// Offers an outermost region that may have several threads to the hook that may execute it
/// elsewhere. If the hook did, the region's clauses are consumed.
#[cold]
unsafe fn try_intercept(
    run: super::hooks::RegionInterceptor,
    ident: *const Ident,
    argc: i32,
    microtask: *const c_void,
    argv: *const *mut c_void,
) -> bool {
    let thread = current();
    if thread.team().shape().level != 0 || thread.pushed_threads.get() == 1 {
        return false;
    }
    let region = super::hooks::RegionStart {
        ident,
        microtask,
        argc,
        argv,
    };
    // SAFETY: the region describes the microtask and arguments of an entry whose caller vouches for
    // them.
    let done = unsafe { run(&region) };
    if done {
        thread.pushed_threads.set(0);
        thread.pushed_bind.take();
        thread.pushed_nested.take();
    }
    done
}

/// Like [`parallel`] if `condition` is not 0, serialized otherwise. `argument` is the microtask's
/// only argument, passed only if `argc` is not 0.
///
/// # Safety
/// As for [`parallel`].
pub unsafe extern "C-unwind" fn parallel_if(
    ident: *const Ident,
    argc: i32,
    microtask: *const c_void,
    condition: i32,
    argument: *mut c_void,
) {
    let (argc, argv) = (argc.min(1), [argument]);
    if condition != 0 {
        // SAFETY: `argv` holds at least the one argument that `microtask` takes (caller's
        // contract).
        unsafe { parallel(ident, argc, microtask, argv.as_ptr()) };
        return;
    }
    let thread = current();
    // Consumes the pushed clauses.
    team_size(thread);
    // SAFETY: `argv` holds at least the one argument that `microtask` takes (caller's contract).
    unsafe {
        run_region(
            thread,
            ident,
            argc as u32,
            microtask,
            argv.as_ptr(),
            1,
            TeamPurpose::Region,
        )
    };
}

/// Returns the default number of threads of a region of the calling thread.
pub fn default_team_size() -> usize {
    let icvs = current().icvs.get();
    icvs.threads().min(icvs.thread_limit) as usize
}

/// Returns the number of threads of the next region and consumes the pushed clauses.
fn team_size(thread: &Thread) -> u32 {
    let icvs = thread.icvs.get();
    let pushed = thread.pushed_threads.replace(0);
    let shape = thread.team().shape();
    if shape.active_level >= icvs.max_active_levels {
        return 1;
    }
    let mut size = if pushed > 0 { pushed } else { icvs.threads() };
    if icvs.dynamic {
        size = size.min(icv::processors());
    }
    size.min(icvs.thread_limit).clamp(1, thread::MAX_TEAM)
}

/// Returns the team that began the contention group of a region in `outer`.
fn group_of(outer: &Team) -> *const Team {
    let group = outer.shape().group;
    if group.is_null() { outer } else { group }
}

/// Reserves up to `wanted` workers of a contention group under its thread limit; returns how many
/// were granted.
fn reserve(group: &AtomicU32, wanted: u32, limit: u32) -> u32 {
    let mut granted = 0;
    let _ = group.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |busy| {
        granted = wanted.min((limit - 1).saturating_sub(busy));
        Some(busy + granted)
    });
    granted
}

/// Returns the data environment with which the implicit tasks of a region start.
fn child_icvs(icvs: Icvs, level: u32, nested: NestedThreads) -> Icvs {
    let mut child = icvs;
    let settings = settings();
    if let Some((threads, below)) = nested.split() {
        child.nthreads = threads;
        child.nested = below;
    }
    if settings.proc_bind.len() > 1
        && let Some(bind) = settings.proc_bind_below(level)
    {
        child.placement = bind | child.placement & DISPLAY;
    }
    child
}

fn warn_fewer(wanted: u32, got: u32) {
    RUNTIME.warned_fewer.call_once(|| {
        let text = format_args!("a region gets {got} threads instead of {wanted}");
        Message::new(Kind::Warning, &text).print();
    });
}

/// Returns the floating-point environment in which a region of the calling thread begins, and which
/// the thread restores after it (`KMP_INHERIT_FP_CONTROL`).
#[inline(always)]
fn fp_control() -> FpControl {
    if settings().inherit_fp_control {
        FpControl::current()
    } else {
        FpControl::NONE
    }
}

/// Purpose of a team.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TeamPurpose {
    /// A parallel region.
    Region,
    /// The initial threads of a league of teams. A league is no region: its level is that of the
    /// enclosing region.
    League,
}

/// Executes `microtask`, whose only argument is `*argv`, by `size` threads, each of which will
/// begin teams of a league.
///
/// # Safety
/// As for [`parallel`].
pub unsafe fn run_league(
    thread: &'static Thread,
    ident: *const Ident,
    microtask: *const c_void,
    argv: *const *mut c_void,
    size: u32,
) {
    // SAFETY: `argv` holds the one argument of `microtask` (caller's contract).
    unsafe { run_region(thread, ident, 1, microtask, argv, size, TeamPurpose::League) };
}

/// Takes a spare team of a thread, or creates one, and attaches workers. Returns the number of
/// members, which is less than `size` if the system refuses threads.
#[inline(always)]
fn take_team(thread: &'static Thread, size: u32) -> (*mut Team, u32) {
    // SAFETY: the thread's own list.
    let team = unsafe { &mut *thread.spare_teams.get() }
        .pop()
        .unwrap_or_else(|| Box::into_raw(Team::new()));
    // SAFETY: a spare team of this thread is alive and runs no region.
    let workers = unsafe { &*team }.workers.get();
    if workers + 1 >= size {
        return (team, size);
    }
    // SAFETY: this thread is the team's master, and the team runs no region.
    (team, unsafe { thread::attach_workers(team, size) })
}

/// Describes a team of `size` members whose master is `thread`, a member of `outer`.
#[inline(always)]
fn shape_of(
    thread: &'static Thread,
    outer: &'static Team,
    size: u32,
    region: bool,
    ident: *const Ident,
) -> Shape {
    let outer_shape = outer.shape();
    let processors = icv::processors();
    let rivals = size
        .saturating_mul(outer_shape.size)
        .saturating_mul(outer_shape.league.0);
    Shape {
        size,
        barrier_algorithm: choose_barrier_algorithm(rivals, processors),
        spin_policy: spin_policy_for(rivals, processors),
        level: outer_shape.level + u32::from(region),
        active_level: outer_shape.active_level + u32::from(region),
        parent: outer,
        parent_tid: thread.tid(),
        league: outer_shape.league,
        group: group_of(outer),
        ident,
    }
}

unsafe fn run_region(
    thread: &'static Thread,
    ident: *const Ident,
    argc: u32,
    microtask: *const c_void,
    argv: *const *mut c_void,
    mut size: u32,
    purpose: TeamPurpose,
) {
    super::hooks::before_region();
    let contained = activation::catches_traps();
    let icvs = thread.icvs.get();
    let outer = thread.team();
    let region = purpose == TeamPurpose::Region;
    // Each initial thread of a league begins a contention group of its own.
    let limited = region && icvs.thread_limit < i32::MAX as u32;
    if limited && size > 1 {
        size = reserve(outer.group(), size - 1, icvs.thread_limit) + 1;
    }
    if size == 1 && region {
        enter_serial(thread, ident);
        let leave = SerialRegion { thread };
        let tid = 0;
        // SAFETY: `argv` holds `argc` arguments of `microtask` (caller's contract).
        let run = || unsafe { abi::call_microtask(microtask, &thread.gtid, &tid, argc, argv) };
        if !contained {
            run();
            drop(leave);
            return;
        }
        // SAFETY: a microtask may be left by a jump, as faults leave it in every tier.
        if let Err(trap) = unsafe { activation::contain(run) } {
            drop(leave);
            // SAFETY: the activation around the region catches traps, and the frames in between
            // hold nothing.
            unsafe { activation::continue_trap(trap) }
        }
        return;
    }
    let (team, got) = take_team(thread, size);
    if got < size {
        warn_fewer(size, got);
        if limited {
            outer.group().fetch_sub(size - got, Ordering::Relaxed);
        }
        size = got;
    }
    // SAFETY: a spare team of this thread is alive and runs no region.
    let t = unsafe { &*team };
    let mut clause = thread.pushed_bind.take();
    let nested = thread.pushed_nested.take().unwrap_or(icvs.nested);
    let level = outer.shape().level + u32::from(region);
    let (child, placement) = if region {
        (child_icvs(icvs, level, nested), icvs.placement)
    } else {
        clause = Some(settings().kmp_teams_proc_bind);
        (icvs, icvs.placement & !DISPLAY)
    };
    let place_assignment = if placement == 0 {
        None
    } else {
        Some(affinity::place_team(
            thread, t, size, level, placement, clause,
        ))
    };
    let shape = shape_of(thread, outer, size, region, ident);
    let spin_policy = shape.spin_policy;
    let fp = fp_control();
    let mut work = Work {
        microtask,
        argc,
        fp,
        argv,
        placed: place_assignment.is_some(),
        contained,
        ..Work::none(child)
    };
    // SAFETY: `argv` has `argc` elements (caller's contract).
    unsafe { work.copy_arguments() };
    // SAFETY: this thread is the team's master, and the team runs no region.
    unsafe { t.prepare(shape, work) };
    let saved = thread.enter(team, 0);
    thread.icvs.set(child);
    let local = thread.local();
    local.singles.set(0);
    local.loops.set(0);
    // SAFETY: the region is described, and as many workers are attached as take part.
    let number = unsafe { t.core.start(size) };
    let join = Join {
        thread,
        contained: contained.then_some(number),
        team,
        size,
        saved,
        icvs,
        limited,
        spin_policy,
        place_assignment,
        fp,
    };
    if place_assignment.is_some() {
        affinity::apply_place_assignment(thread, t, 0);
    }
    let tid = 0;
    let run = || {
        // SAFETY: `argv` holds `argc` arguments of `microtask` (caller's contract).
        unsafe { abi::call_microtask(microtask, &thread.gtid, &tid, argc, argv) };
        cancel::end_of_region(thread);
    };
    match join.contained {
        Some(number) => join.lead(number, run),
        None => run(),
    }
}

/// Microseconds for which a waiting member yields its processor before it sleeps, if the team has
/// more threads than there are processors. A wake-up takes some fifty.
const CROWDED_MICROS: u32 = 500;

/// Returns the spin policy of a team's members if `threads` compete for `processors`.
fn spin_policy_for(threads: u32, processors: u32) -> SpinPolicy {
    let micros = icv::spin_micros();
    if threads > processors && micros != u32::MAX {
        SpinPolicy {
            checks: 2,
            micros: micros.min(CROWDED_MICROS),
            yields: true,
        }
    } else {
        SpinPolicy {
            checks: 400,
            micros,
            yields: false,
        }
    }
}

/// Joins the region when the master leaves it, normally or by unwinding.
struct Join {
    thread: &'static Thread,
    /// Number of the region if it is contained.
    contained: Option<u32>,
    team: *mut Team,
    size: u32,
    saved: (*const Team, u32),
    icvs: Icvs,
    limited: bool,
    spin_policy: SpinPolicy,
    /// The master's place assignment outside; `None` if affinity does not matter.
    place_assignment: Option<PlaceAssignment>,
    /// The master's floating-point environment outside.
    fp: FpControl,
}

impl Join {
    /// Runs the master's part of a contained region and leaves the region, which a fault of any
    /// member ends for all.
    fn lead(self, number: u32, run: impl FnOnce()) {
        let (thread, size) = (self.thread, self.size);
        // SAFETY: the master keeps its team alive through the region.
        let team = unsafe { &*self.team };
        let system = waits::system_number(thread.gtid);
        thread.local().system.store(system, Ordering::Relaxed);
        // SAFETY: a microtask may be left by a jump, as faults leave it in every tier, and so may
        // waits and tasks of a team that no region uses afterwards.
        let ran = unsafe { activation::contain(run) };
        // SAFETY: the master, in this region; waits may be left as above.
        let wait = || unsafe { activation::contain(|| self.await_members(number)) };
        let result = ran.and_then(|()| wait());
        let result = result.and_then(|()| {
            if team.failure.happened() {
                return Ok(());
            }
            // SAFETY: the master's own number; tasks may be left as above.
            unsafe {
                team.core.finish_member(0, true, |_| {});
                activation::contain(|| {
                    let open = team.tasks.epoch.number();
                    if open != 0 {
                        drain(thread, open);
                    }
                })
            }
        });
        let began = result.is_err_and(|trap| team.failure.begin(trap));
        let mut this = ManuallyDrop::new(self);
        if !team.failure.happened() {
            this.leave();
            return;
        }
        // SAFETY: the master takes part with number 0 in the running region of this size.
        let trap = unsafe { containment::end(team, 0, number, size, began) };
        this.fp.load();
        this.restore();
        thread.pushed_threads.set(0);
        thread.pushed_bind.take();
        thread.pushed_nested.take();
        // Tasks and thieves may refer to the team, so it is never freed.
        team.holders.fetch_add(1, Ordering::Relaxed);
        // SAFETY: this thread is the team's master, all members have left the region, and the
        // activation around the region catches traps.
        unsafe {
            thread::dismiss(this.team);
            activation::continue_trap(trap)
        }
    }

    /// Waits until all workers have left a contained region, and executes tasks meanwhile.
    ///
    /// # Safety
    /// The master calls it, in the region with this number.
    unsafe fn await_members(&self, number: u32) {
        // SAFETY: the master keeps its team alive through the region.
        let team = unsafe { &*self.team };
        let idle_work = EpochWork::new(self.thread);
        let left = |member: &MemberState| member.finished.load(Ordering::Acquire) == number;
        // SAFETY: the master calls it, in a region of this size.
        unsafe {
            team.core
                .await_members(self.size, self.spin_policy, &idle_work, left);
        }
    }

    /// Leaves the region after all members and tasks have ended.
    #[inline(always)]
    fn leave(&mut self) {
        let thread = self.thread;
        // SAFETY: the master keeps its team alive through the region.
        let team = unsafe { &*self.team };
        self.fp.load();
        let local = thread.local();
        await_visitors(local, team);
        if local.singles.get() > 0 {
            team.singles.store(0, Ordering::Relaxed);
        }
        if local.loops.get() > 0 {
            // SAFETY: the master, after the join.
            unsafe { team.reset_worksharing() };
        }
        if team.cancel.any() {
            // SAFETY: the master, after the join.
            unsafe { team.reset_canceled(self.size) };
        }
        self.restore();
        // A nested team's workers are freed for others under a thread limit, and if there are
        // already too many workers, since otherwise every thread that ever had a nested team would
        // keep one forever.
        let nested = thread.team().shape().level > 0 || !thread.is_root();
        if (self.limited || thread::too_many_workers()) && nested {
            // SAFETY: this thread is the team's master, and the team runs no region.
            unsafe { thread::dismiss(self.team) };
            return;
        }
        // SAFETY: the thread's own list.
        unsafe { &mut *thread.spare_teams.get() }.push(self.team);
    }

    /// Restores the master's state around the region.
    #[inline(always)]
    fn restore(&mut self) {
        let thread = self.thread;
        thread.enter(self.saved.0, self.saved.1);
        thread.icvs.set(self.icvs);
        if let Some(place_assignment) = self.place_assignment.take() {
            affinity::leave(thread, place_assignment);
        }
        if self.limited {
            let group = thread.team().group();
            group.fetch_sub(self.size - 1, Ordering::Relaxed);
        }
    }
}

impl Drop for Join {
    #[inline]
    fn drop(&mut self) {
        let thread = self.thread;
        // SAFETY: the master keeps its team alive through the region.
        let team = unsafe { &*self.team };
        // SAFETY: this thread is the team's master and takes part with number 0.
        unsafe {
            match self.contained {
                // A panic of a host function passes through.
                Some(number) => {
                    self.await_members(number);
                    team.core.finish_member(0, true, |_| {});
                }
                None => {
                    let idle_work = EpochWork::new(thread);
                    team.core.join(0, self.size, self.spin_policy, &idle_work);
                }
            }
            // The arrivals published the task epoch's number.
            let open = team.tasks.epoch.number();
            if open != 0 {
                drain(thread, open);
            }
        }
        self.leave();
    }
}

struct SerialRegion {
    thread: &'static Thread,
}

impl Drop for SerialRegion {
    fn drop(&mut self) {
        leave_serial(self.thread);
    }
}

/// Enters a region executed by this thread alone.
pub fn enter_serial(thread: &Thread, ident: *const Ident) {
    let outer = thread.team().shape();
    let league = outer.league;
    enter_alone(thread, ident, outer.level + 1, league);
    let placement = thread.icvs.get().placement;
    if placement != 0 {
        affinity::enter_serial(thread, placement);
    }
}

/// Enters a team of one at nesting level `level` (the enclosing level for teams of a league).
pub fn enter_alone(thread: &Thread, ident: *const Ident, level: u32, league: (u32, u32)) {
    thread.pushed_threads.set(0);
    thread.pushed_bind.set(None);
    let pushed = thread.pushed_nested.take();
    let outer = thread.team();
    // SAFETY: the thread's own list.
    let team = unsafe { &mut *thread.spare_serial.get() }
        .pop()
        .unwrap_or_else(|| Box::into_raw(Team::new()));
    // SAFETY: a spare team of this thread is alive.
    let t = unsafe { &*team };
    let shape = Shape {
        size: 1,
        barrier_algorithm: BarrierAlgorithm::AllToAll,
        spin_policy: SpinPolicy::NONE,
        level,
        active_level: outer.shape().active_level,
        parent: outer,
        parent_tid: thread.tid(),
        league,
        // A team of a league is a contention group of its own.
        group: if level > outer.shape().level {
            group_of(outer)
        } else {
            std::ptr::null()
        },
        ident,
    };
    let icvs = thread.icvs.get();
    // The team keeps the outer environment until the region ends.
    let work = Work {
        fp: fp_control(),
        ..Work::none(icvs)
    };
    // SAFETY: no other thread uses this team of one, which runs no region.
    unsafe { t.prepare(shape, work) };
    // The initial task of a team in a league is no level deeper.
    let nested = if level > outer.shape().level {
        pushed.unwrap_or(icvs.nested)
    } else {
        NestedThreads::END
    };
    thread.icvs.set(child_icvs(icvs, level, nested));
    thread.enter(team, 0);
    let local = thread.local();
    local.singles.set(0);
    local.loops.set(0);
}

/// Leaves the team that [`enter_alone`] entered.
pub fn leave_serial(thread: &Thread) {
    let team = thread.team();
    let shape = *team.shape();
    if shape.parent.is_null() || shape.size != 1 {
        return;
    }
    let open = team.tasks.epoch.number();
    if open != 0 {
        // SAFETY: the thread is the only member, at the end of its region.
        unsafe { drain(thread, open) };
    }
    let local = thread.local();
    await_visitors(local, team);
    if local.singles.get() > 0 {
        team.singles.store(0, Ordering::Relaxed);
    }
    if local.loops.get() > 0 {
        // SAFETY: no other thread uses this team of one.
        unsafe { team.reset_worksharing() };
    }
    let work = team.work();
    work.fp.load();
    thread.icvs.set(work.icvs);
    let team = std::ptr::from_ref(team).cast_mut();
    thread.enter(shape.parent, shape.parent_tid);
    // SAFETY: the thread's own list.
    unsafe { &mut *thread.spare_serial.get() }.push(team);
}

/// Begins a region that an `if` clause serializes.
pub unsafe extern "C-unwind" fn begin_serialized(ident: *const Ident, gtid: i32) {
    enter_serial(by_number(gtid), ident);
}

/// Ends a serialized region.
pub unsafe extern "C-unwind" fn end_serialized(_ident: *const Ident, gtid: i32) {
    leave_serial(by_number(gtid));
}

/// Sets the `num_threads` clause of the next region.
pub unsafe extern "C-unwind" fn push_num_threads(_ident: *const Ident, gtid: i32, threads: i32) {
    by_number(gtid).pushed_threads.set(threads.max(0) as u32);
}

/// Sets a strict `num_threads` clause: fewer threads are reported as `severity` says (1 warning, 2
/// fatal) with `message`.
///
/// # Safety
/// `message` is null or a null-terminated string.
pub unsafe extern "C-unwind" fn push_num_threads_strict(
    ident: *const Ident,
    gtid: i32,
    threads: i32,
    severity: i32,
    message: *const std::ffi::c_char,
) {
    let thread = by_number(gtid);
    thread.pushed_threads.set(threads.max(0) as u32);
    // SAFETY: `message` is null or a null-terminated string (caller's contract).
    unsafe { expect_threads(thread, ident, threads, severity, message) };
}

/// Reports at once if the next region cannot have `threads` threads.
///
/// # Safety
/// As for [`push_num_threads_strict`].
unsafe fn expect_threads(
    thread: &Thread,
    ident: *const Ident,
    threads: i32,
    severity: i32,
    message: *const std::ffi::c_char,
) {
    let icvs = thread.icvs.get();
    let possible = if thread.team().shape().active_level >= icvs.max_active_levels {
        1
    } else {
        icvs.thread_limit.min(i32::MAX as u32) as i32
    };
    if threads > possible {
        // SAFETY: `message` is null or a null-terminated string (caller's contract).
        unsafe { crate::program::error(ident, severity, message) };
    }
}

/// Sets the `num_threads` clause from a list: the first number is for the next region; the others
/// replace the defaults of the regions nested in it (OpenMP 6.0, section 12.1.2).
///
/// # Safety
/// `list` has `length` numbers.
pub unsafe extern "C-unwind" fn push_num_threads_list(
    _ident: *const Ident,
    gtid: i32,
    length: u32,
    list: *const i32,
) {
    if length == 0 {
        return;
    }
    // SAFETY: `list` has `length` numbers (caller's contract).
    let list = unsafe { std::slice::from_raw_parts(list, length as usize) };
    let thread = by_number(gtid);
    thread.pushed_threads.set(list[0].max(0) as u32);
    let nested: Vec<u32> = list[1..].iter().map(|&n| n.max(1) as u32).collect();
    if !nested.is_empty() {
        thread
            .pushed_nested
            .set(Some(NestedThreads::from_list(&nested)));
    }
}

/// Like [`push_num_threads_list`], with a strict first number.
///
/// # Safety
/// `list` has `length` numbers; `message` is null or a null-terminated string.
pub unsafe extern "C-unwind" fn push_num_threads_list_strict(
    ident: *const Ident,
    gtid: i32,
    length: u32,
    list: *const i32,
    severity: i32,
    message: *const std::ffi::c_char,
) {
    // SAFETY: `list` has `length` numbers, here at least one; `message` is null or a
    // null-terminated string (caller's contract).
    unsafe {
        push_num_threads_list(ident, gtid, length, list);
        if length > 0 {
            expect_threads(by_number(gtid), ident, *list, severity, message);
        }
    }
}

/// Ends the scope of `num_threads` without effect: the region consumes the push.
pub unsafe extern "C-unwind" fn pop_num_threads(_ident: *const Ident, _gtid: i32) {}

/// Sets the `proc_bind` clause of the next region.
pub unsafe extern "C-unwind" fn push_proc_bind(_ident: *const Ident, gtid: i32, bind: i32) {
    // clang numbers `primary` and `master` differently, 5 and 2; they mean the same.
    let bind = match bind {
        5 => 2,
        2..=4 => bind as u8,
        _ => return,
    };
    by_number(gtid).pushed_bind.set(Some(bind));
}
