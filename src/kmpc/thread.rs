//! Threads as the runtime sees them: roots, workers, the pool of idle workers, global numbers.
//!
//! A root is a thread that the program created (the initial thread, or a foreign one that calls in
//! for the first time); a worker is created by the runtime. Both have a [`Thread`], reachable from
//! thread-local storage and by global thread number, because most entries receive that number and a
//! table look-up is cheaper than dynamic thread-local storage in a shared library.
//!
//! Workers live until the process ends: nothing is joined at `exit`, so that `exit` inside a region
//! cannot hang. After `fork` the child starts with an empty pool.

use ompvm_support::log;
use ompvm_support::message::{Kind, Message};
use std::cell::{Cell, UnsafeCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crossbeam::utils::CachePadded;

use crate::affinity::ThreadBinding;
use crate::icv::{self, Icvs, NestedThreads, settings};
use crate::runtime::{LOCALS, RUNTIME};
use crate::task::memory::Blocks;
use crate::task::wait::{self, EpochWork};
use crate::team::parker::{Parker, SpinPolicy};
use crate::team::team_core::{Slot, WorkerCommand};
use crate::team::{MemberState, Team};
use crate::waits::{self, Construct, PossibleWait};
use crate::{abi, affinity, cancel, containment, fork_handlers, hooks, lock, ompt};
use omp_abi::ThreadHead;
use ompvm_memory::signal_safe::SignalsBlocked;
use ompvm_memory::{activation, worker};
use ompvm_support::processor_sharing;
use ompvm_support::sync::{self, AtomicU32 as SyncU32, Mutex, MutexGuard};

/// Maximum number of threads at a time: as many as a lock's word can name.
pub const MAX_THREADS: usize = omp_abi::limit::HOST_THREADS as usize;
/// Maximum number of threads of a team.
pub const MAX_TEAM: u32 = 1 << 14;

/// A thread known to the runtime. Only the thread itself accesses the non-atomic fields, unless a
/// comment says otherwise.
#[repr(C)]
pub struct Thread {
    // Compiled programs read the first three (`ThreadHead`, `runtime-c/entries.c`).
    tid: Cell<u32>,
    /// Size of the team.
    size: Cell<u32>,
    /// 1 if the team has one thread and no task that its barriers must wait for, and belongs to no
    /// league, whose teams reduce into the same variables.
    alone: Cell<u32>,
    /// Global thread number; microtasks receive its address.
    pub gtid: i32,
    team: Cell<*const Team>,
    /// Control variables of the current task.
    pub icvs: Cell<Icvs>,
    /// `num_threads` clause of the next region; 0 if there is none.
    pub pushed_threads: Cell<u32>,
    /// Rest of the clause's list, for the regions nested in the next one.
    pub pushed_nested: Cell<Option<NestedThreads>>,
    /// `proc_bind` clause of the next region.
    pub pushed_bind: Cell<Option<u8>>,
    /// Place that the thread is bound to.
    pub binding: ThreadBinding,
    /// `num_teams` and `thread_limit` clauses of the next `teams` region; 0 if there are none.
    pub pushed_teams: Cell<(u32, u32)>,
    /// Teams of which this thread is the master and that run no region, with their workers
    /// attached; the most recently used is the last.
    pub spare_teams: UnsafeCell<Vec<*mut Team>>,
    /// Teams of one for serialized regions.
    pub spare_serial: UnsafeCell<Vec<*mut Team>>,
    /// This thread's copies of threadprivate variables, by the address of the original.
    pub privates: UnsafeCell<HashMap<usize, *mut c_void>>,
    /// Result of the virtual machine's start hook.
    hook_data: Cell<*mut c_void>,
    /// Memory blocks of tasks.
    pool: &'static Blocks,
    root: bool,
    /// Assignment of an idle worker to a team, written by the team's master.
    assignment: AtomicPtr<TeamAssignment>,
    parker: Parker,
    sleepers: SyncU32,
}

const _: () = {
    assert!(offset_of!(Thread, tid) == offset_of!(ThreadHead, number));
    assert!(offset_of!(Thread, size) == offset_of!(ThreadHead, size));
    assert!(offset_of!(Thread, alone) == offset_of!(ThreadHead, alone));
};

const _: () = assert!(std::mem::offset_of!(Thread, tid) == 0);
const _: () = assert!(std::mem::offset_of!(Thread, size) == 4);
const _: () = assert!(std::mem::offset_of!(Thread, alone) == 8);

// SAFETY: threads other than its own access only the atomic fields of a record.
unsafe impl Sync for Thread {}
// SAFETY: no field is bound to the thread that creates the record.
unsafe impl Send for Thread {}

/// The data with which a worker starts to serve a team.
pub struct TeamAssignment {
    /// The team, on which the worker holds a count; null ends the worker.
    pub team: *const Team,
    /// The worker's slot.
    pub slot: *const Slot<MemberState>,
    /// The worker's number.
    pub tid: u32,
    /// Number of the last region that was started before the worker joined the team.
    pub last_region: u32,
}

/// The threads of this process by their numbers, which are unique in the process: compiled programs
/// of all images read the table.
static THREADS: [AtomicPtr<Thread>; MAX_THREADS] =
    [const { AtomicPtr::new(null_mut()) }; MAX_THREADS];

/// Idle workers and free thread numbers.
pub struct Pool {
    idle: Vec<&'static Thread>,
    free_numbers: Vec<i32>,
    next_number: i32,
}

/// The workers of a process.
pub(crate) struct Workforce {
    pool: CachePadded<Mutex<Pool>>,
    /// See [`workers`].
    created: AtomicU32,
    /// Done once a shortage of threads was told.
    warned: Once,
}

impl Workforce {
    /// Returns the workers of a process that has none yet.
    pub(crate) const fn new() -> Workforce {
        Workforce {
            pool: CachePadded::new(Mutex::new(Pool {
                idle: Vec::new(),
                free_numbers: Vec::new(),
                next_number: 0,
            })),
            created: AtomicU32::new(0),
            warned: Once::new(),
        }
    }
}

fn pool() -> MutexGuard<'static, Pool> {
    sync::lock(&RUNTIME.workforce.pool)
}

/// Returns the number of workers created so far.
pub fn workers() -> u32 {
    RUNTIME.workforce.created.load(Ordering::Relaxed)
}

/// Returns true if there are too many workers to keep nested teams for the next region: four per
/// processor, and at least 64.
#[inline]
pub fn too_many_workers() -> bool {
    RUNTIME.workforce.created.load(Ordering::Relaxed) >= icv::processors().saturating_mul(4).max(64)
}

thread_local! {
    /// The destructor of a root thread.
    static ROOT_EXIT: RootExit = const { RootExit };
}

/// Runs when a root thread ends.
struct RootExit;

impl Drop for RootExit {
    fn drop(&mut self) {
        // SAFETY: null, or the thread's own record, which lives until it is released here.
        let thread = unsafe { LOCALS.with(|l| l.thread.get()).as_ref() };
        let thread = thread.filter(|t| t.root && t.team().shape().level == 0);
        // The implicit region around everything that the thread did ends with a barrier.
        let complete = thread.is_some_and(wait::complete_root);
        if let Some(thread) = thread {
            waits::unregister(thread.gtid);
        }
        LOCALS.with(|l| l.thread.set(std::ptr::null()));
        if let Some(thread) = thread
            && complete
        {
            release_root(thread);
        }
    }
}

/// Returns the calling thread, which its first call registers as a root.
#[inline(always)]
pub fn current() -> &'static Thread {
    let thread = LOCALS.with(|l| l.thread.get());
    if thread.is_null() {
        return register_root();
    }
    // SAFETY: the record lives as long as the thread.
    unsafe { &*thread }
}

/// Returns the address of the thread table, for compiled programs.
pub fn table_address() -> usize {
    THREADS.as_ptr().addr()
}

/// Returns the calling thread if it is registered.
pub fn current_if_known() -> Option<&'static Thread> {
    // SAFETY: null, or a record that lives as long as the thread.
    unsafe { LOCALS.with(|l| l.thread.get()).as_ref() }
}

/// Returns the calling thread, given its number (as the ABI's entries are); falls back to
/// [`current`].
#[inline(always)]
pub fn by_number(gtid: i32) -> &'static Thread {
    if let Some(cell) = THREADS.get(gtid as usize) {
        // Relaxed: the number is the caller's own, so the caller wrote the entry or acquired it.
        let thread = cell.load(Ordering::Relaxed);
        if !thread.is_null() {
            // SAFETY: the record lives as long as the thread.
            return unsafe { &*thread };
        }
    }
    current()
}

impl Thread {
    fn new(gtid: i32, root: bool) -> &'static Thread {
        let team = Box::into_raw(Team::new());
        let thread = Box::into_raw(Box::new(Thread {
            gtid,
            team: Cell::new(team),
            tid: Cell::new(0),
            size: Cell::new(1),
            alone: Cell::new(1),
            icvs: Cell::new(Icvs::default()),
            pushed_threads: Cell::new(0),
            pushed_nested: Cell::new(None),
            pushed_bind: Cell::new(None),
            binding: ThreadBinding::default(),
            pushed_teams: Cell::new((0, 0)),
            spare_teams: UnsafeCell::new(Vec::new()),
            spare_serial: UnsafeCell::new(Vec::new()),
            privates: UnsafeCell::new(HashMap::new()),
            hook_data: Cell::new(null_mut()),
            pool: Blocks::take(),
            root,
            assignment: AtomicPtr::new(null_mut()),
            parker: Parker::new(),
            sleepers: SyncU32::new(0),
        }));
        THREADS[gtid as usize].store(thread, Ordering::Release);
        // SAFETY: created above; the record lives until the thread ends.
        unsafe { &*thread }
    }

    /// Returns the team that the thread is in.
    #[inline(always)]
    pub fn team(&self) -> &Team {
        // SAFETY: a thread is always in a live team: its own of one, or one whose region it is in.
        unsafe { &*self.team.get() }
    }

    /// Returns the thread's number in its team.
    #[inline(always)]
    pub fn tid(&self) -> u32 {
        self.tid.get()
    }

    /// Returns the thread's state in its team.
    #[inline(always)]
    pub fn local(&self) -> &MemberState {
        // SAFETY: the thread takes part in its team's region with this number.
        unsafe { &self.team().slot(self.tid.get()).local }
    }

    /// Moves the thread into a team whose region is described. Returns the previous team and
    /// number.
    #[inline(always)]
    pub(crate) fn enter(&self, team: *const Team, tid: u32) -> (*const Team, u32) {
        // SAFETY: callers pass a live team: their own, or that of the region they are in.
        let t = unsafe { &*team };
        let size = t.size();
        self.size.set(size);
        let alone = size == 1 && t.tasks.epoch.number() == 0 && t.shape().league.0 == 1;
        self.alone.set(alone.into());
        (self.team.replace(team), self.tid.replace(tid))
    }

    /// Returns the result of the virtual machine's start hook for this worker.
    pub fn hook_data(&self) -> *mut c_void {
        self.hook_data.get()
    }

    /// Records if barriers have tasks to wait for.
    pub(crate) fn expect_tasks(&self, some: bool) {
        let alone = self.size.get() == 1 && !some && self.team().shape().league.0 == 1;
        self.alone.set(alone.into());
    }

    /// Returns the memory pool of the thread's tasks.
    #[inline(always)]
    pub fn pool(&self) -> &'static Blocks {
        self.pool
    }

    /// Returns true if the program created this thread.
    pub fn is_root(&self) -> bool {
        self.root
    }
}

#[cold]
fn register_root() -> &'static Thread {
    fork_handlers::install();
    let Some(gtid) = take_number() else {
        let text =
            format_args!("cannot register a thread: all {MAX_THREADS} thread numbers are in use");
        Message::new(Kind::GuestResources, &text)
            .signal(libc::SIGABRT)
            .print();
        std::process::abort();
    };
    let thread = Thread::new(gtid, true);
    LOCALS.with(|l| l.thread.set(thread));
    waits::register(gtid);
    // Registers the destructor, which fails only while thread-local storage is being torn down.
    let _ = ROOT_EXIT.try_with(|_| ());
    processor_sharing::register();
    tracing::debug!(target: log::KMPC, gtid, "registered a thread of the program");
    thread
}

/// Allocates a thread number; `None` if all are in use.
fn take_number() -> Option<i32> {
    let mut pool = self::pool();
    if let Some(number) = pool.free_numbers.pop() {
        return Some(number);
    }
    let number = pool.next_number;
    if number as usize >= MAX_THREADS {
        return None;
    }
    pool.next_number += 1;
    Some(number)
}

fn release_root(thread: &'static Thread) {
    wait::await_visitors(thread.local(), thread.team());
    // SAFETY: the lists are the calling thread's own, and it runs no region.
    let (teams, serial) = unsafe {
        (
            &mut *thread.spare_teams.get(),
            &mut *thread.spare_serial.get(),
        )
    };
    for team in teams.drain(..) {
        // SAFETY: the thread is the team's master, and the team runs no region.
        unsafe { dismiss(team) };
    }
    for team in serial.drain(..) {
        // SAFETY: the list held the only pointer to this team of one.
        drop(unsafe { Box::from_raw(team) });
    }
    crate::threadprivate::destroy(thread);
    thread.pool.leave();
    let (gtid, own_team) = (thread.gtid, thread.team.get().cast_mut());
    let record = THREADS[gtid as usize].swap(null_mut(), Ordering::Relaxed);
    // SAFETY: the thread ends and is in no region, so no other thread uses its record or its own
    // team.
    unsafe {
        drop(Box::from_raw(record));
        drop(Box::from_raw(own_team));
    }
    pool().free_numbers.push(gtid);
}

/// Returns a team's workers to the pool; the last one to leave frees the team.
///
/// # Safety
/// The caller is the team's master, and the team runs no region and is not used again.
pub unsafe fn dismiss(team: *mut Team) {
    // SAFETY: the master's count keeps the team alive, and no region runs (caller's contract).
    unsafe { (*team).core.dismiss() };
    // SAFETY: drops the master's count, after which the caller does not use the team.
    unsafe { drop_holder(team) };
}

unsafe fn drop_holder(team: *const Team) {
    // SAFETY: the caller's count keeps the team alive until the subtraction.
    if unsafe { &*team }.holders.fetch_sub(1, Ordering::AcqRel) == 1 {
        // SAFETY: that was the last count, so no other thread uses the team.
        drop(unsafe { Box::from_raw(team.cast_mut()) });
    }
}

/// Attaches workers to `team` until `size` threads can take part; returns how many can.
///
/// # Safety
/// The caller is the team's master and the team runs no region.
#[cold]
pub unsafe fn attach_workers(team: *const Team, size: u32) -> u32 {
    // SAFETY: the master holds a count, so the team is alive.
    let t = unsafe { &*team };
    // SAFETY: the caller is the master and no region runs (caller's contract).
    unsafe { t.core.grow(size as usize) };
    while t.workers.get() + 1 < size {
        let tid = t.workers.get() + 1;
        let Some(worker) = take_worker() else { break };
        t.holders.fetch_add(1, Ordering::Relaxed);
        let assignment = Box::into_raw(Box::new(TeamAssignment {
            team,
            // SAFETY: the master, between regions; `tid` is below the capacity that `grow` made.
            slot: unsafe { t.slot(tid) },
            tid,
            last_region: t.core.region(),
        }));
        worker.assignment.store(assignment, Ordering::Release);
        ompvm_support::sync::fence(ompvm_support::sync::Ordering::SeqCst);
        worker.parker.unpark();
        t.workers.set(tid);
    }
    tracing::debug!(target: log::KMPC, size, threads = t.workers.get() + 1, "a team has grown");
    t.workers.get() + 1
}

fn take_worker() -> Option<&'static Thread> {
    if let Some(worker) = pool().idle.pop() {
        return Some(worker);
    }
    let Some(gtid) = take_number() else {
        warn_no_thread(&format_args!("all {MAX_THREADS} thread numbers are in use"));
        return None;
    };
    let thread = Thread::new(gtid, false);
    let spawned = worker::spawn(
        format!("omp-{gtid}"),
        hooks::worker_stack(settings().stack_size),
        workers() as usize,
        move |signals| activation::at_stack_bottom(|| serve(thread, signals)),
    );
    match spawned {
        Ok(()) => {
            let before = RUNTIME.workforce.created.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(target: log::KMPC, gtid, workers = before + 1, "created a worker");
            Some(thread)
        }
        Err(error) => {
            tracing::info!(target: log::KMPC, gtid, why = %error, "cannot create a worker");
            warn_no_thread(&error);
            thread.pool.leave();
            let team = thread.team.get().cast_mut();
            let record = THREADS[gtid as usize].swap(null_mut(), Ordering::Relaxed);
            // SAFETY: created above for a thread that does not exist, so no other thread uses them.
            unsafe {
                drop(Box::from_raw(record));
                drop(Box::from_raw(team));
            }
            pool().free_numbers.push(gtid);
            None
        }
    }
}

fn warn_no_thread(why: &dyn std::fmt::Display) {
    let warning = || {
        let text = format_args!("cannot create a thread: {why}");
        Message::new(Kind::Warning, &text).print();
    };
    RUNTIME.workforce.warned.call_once(warning);
}

/// Returns the spin policy of a worker without work.
fn worker_spin_policy() -> SpinPolicy {
    SpinPolicy {
        checks: 400,
        micros: icv::spin_micros(),
        yields: false,
    }
}

/// Main loop of a worker: waits for a team, serves it until dismissed, returns to the pool. Takes
/// signals once the thread is what a handler of the program expects.
fn serve(thread: &'static Thread, signals: SignalsBlocked) {
    LOCALS.with(|l| l.thread.set(thread));
    waits::register(thread.gtid);
    processor_sharing::register();
    thread.hook_data.set(hooks::worker_start(thread.gtid));
    drop(signals);
    if ompt::on() {
        ompt::worker_begins();
    }
    let own_team = thread.team.get();
    loop {
        let spin_policy = worker_spin_policy();
        let idle = PossibleWait::at(Construct::IDLE);
        let assigned = || !thread.assignment.load(Ordering::Acquire).is_null();
        thread
            .parker
            .wait_until(&thread.sleepers, spin_policy, idle, assigned);
        let assignment = thread.assignment.swap(null_mut(), Ordering::Acquire);
        // SAFETY: `attach_workers` or `end_worker` boxed it for this worker alone.
        let a = unsafe { Box::from_raw(assignment) };
        if a.team.is_null() {
            tracing::debug!(target: log::KMPC, gtid = thread.gtid, "a worker ends");
            end(thread);
            return;
        }
        // SAFETY: the assignment holds a count of the team, and names this worker's slot.
        unsafe { serve_team(thread, &a) };
        thread.enter(own_team, 0);
        // SAFETY: drops the count that the assignment held; the team is not used again.
        unsafe { drop_holder(a.team) };
        // The worker's next team may need no nested ones, so their workers are freed for others.
        // SAFETY: the thread's own list.
        for team in unsafe { &mut *thread.spare_teams.get() }.drain(..) {
            // SAFETY: the worker is the team's master, and the team runs no region.
            unsafe { dismiss(team) };
        }
        pool().idle.push(thread);
    }
}

unsafe fn serve_team(thread: &Thread, a: &TeamAssignment) {
    // SAFETY: the assignment's count keeps team and slot alive.
    let (team, slot) = unsafe { (&*a.team, &*a.slot) };
    let mut last = a.last_region;
    // Number of the join that ended the last region for this worker; no join has the number 0.
    let mut joined = 0;
    // Spin policy in a team with more threads than processors, whose master needs a processor to
    // begin the next region.
    let mut crowded = None;
    loop {
        let spin_policy = crowded.unwrap_or_else(worker_spin_policy);
        // `help` checks again.
        let work_available = || joined != 0 && team.tasks.epoch.number() == joined;
        // SAFETY: slot and number are this worker's own.
        match unsafe {
            team.core
                .await_command(slot, a.tid, last, joined, spin_policy, work_available)
        } {
            WorkerCommand::Run {
                region,
                size,
                woken,
            } => {
                last = region;
                if ompt::on() {
                    ompt::close_region();
                }
                let work = team.work();
                thread.enter(team, a.tid);
                thread.icvs.set(work.icvs);
                work.fp.load();
                slot.local.singles.set(0);
                slot.local.loops.set(0);
                if woken {
                    // SAFETY: the worker takes part in the region.
                    unsafe { wait::decline(team) };
                }
                if work.placed {
                    affinity::apply_place_assignment(thread, team, a.tid);
                }
                let tid = a.tid as i32;
                if work.contained {
                    // SAFETY: the worker takes part in this region with its own number.
                    joined = match unsafe { containment::follow(thread, team, a.tid, last, size) } {
                        true => slot.epoch(),
                        false => 0,
                    };
                    continue;
                }
                // SAFETY: the master passed a microtask and its arguments, which live until the
                // join.
                unsafe {
                    abi::call_microtask(work.microtask, &thread.gtid, &tid, work.argc, work.args());
                }
                cancel::end_of_region(thread);
                let spin_policy = team.shape().spin_policy;
                crowded = spin_policy.yields.then_some(spin_policy);
                // SAFETY: the worker's own number; it accesses nothing of the region afterwards,
                // unless `help` keeps the region from ending.
                unsafe {
                    team.core
                        .join(a.tid, size, spin_policy, &EpochWork::new(thread));
                    joined = slot.epoch();
                }
            }
            // SAFETY: the worker's last barrier was the join with this number.
            WorkerCommand::Help if !slot.local.is_contained(last) => unsafe {
                wait::help_after_join(thread, team, joined)
            },
            WorkerCommand::Help => {
                // SAFETY: as above; the worker's own number.
                let goes_on = unsafe { containment::help(thread, team, a.tid, last, joined) };
                if !goes_on {
                    joined = 0;
                }
            }
            WorkerCommand::Dismissed => {
                if ompt::on() {
                    ompt::close_region();
                }
                return;
            }
        }
    }
}

/// Ends a worker: returns its own teams' workers to the pool.
#[cold]
fn end(thread: &'static Thread) {
    dismiss_spares(thread);
    waits::unregister(thread.gtid);
    thread.pool.leave();
    ompt::worker_ends();
}

/// Returns the workers of all teams that the thread keeps for later regions to the pool.
#[cold]
pub fn dismiss_spares(thread: &Thread) {
    // SAFETY: the list is the calling thread's own; it is master of its teams, which run no region.
    unsafe {
        for team in (*thread.spare_teams.get()).drain(..) {
            dismiss(team);
        }
    }
}

/// Ends an idle worker; returns false if none is idle. Only for the end of the process: the
/// worker's number is not used again.
#[cold]
pub fn end_worker() -> bool {
    let Some(worker) = pool().idle.pop() else {
        return false;
    };
    let assignment = Box::into_raw(Box::new(TeamAssignment {
        team: std::ptr::null(),
        slot: std::ptr::null(),
        tid: 0,
        last_region: 0,
    }));
    worker.assignment.store(assignment, Ordering::Release);
    ompvm_support::sync::fence(ompvm_support::sync::Ordering::SeqCst);
    worker.parker.unpark();
    true
}

/// Returns the number of threads that the runtime knows.
pub fn known_threads() -> i32 {
    let pool = self::pool();
    pool.next_number - pool.free_numbers.len() as i32
}

/// Locks the pool, for the time in which the process forks.
pub fn lock_pool() -> MutexGuard<'static, Pool> {
    pool()
}

/// Removes all other threads, in a child of `fork`, which has only the calling one.
pub fn forget_others() {
    processor_sharing::forget_others();
    let mine = current_if_known();
    let mut pool = self::pool();
    pool.idle.clear();
    pool.free_numbers.clear();
    let keep = mine.map_or(-1, |t| t.gtid);
    for number in (0..pool.next_number).rev().filter(|&n| n != keep) {
        waits::unregister(number);
        // The records of threads that do not exist here are leaked, since they may be half-written.
        THREADS[number as usize].store(null_mut(), Ordering::Relaxed);
        // A lock that the child inherits may have such a thread in its queue.
        if !lock::abandon(number) {
            pool.free_numbers.push(number);
        }
    }
    drop(pool);
    RUNTIME.workforce.created.store(0, Ordering::Relaxed);
    if let Some(thread) = mine {
        waits::register(thread.gtid);
        // SAFETY: the list is the calling thread's own; no team's worker exists in the child.
        unsafe { (*thread.spare_teams.get()).clear() };
        if thread.team().shape().level == 0 {
            thread.team().busy.store(0, Ordering::Relaxed);
        }
        if thread.team().shape().level == 0 && thread.team().tasks.epoch.number() != 0 {
            // The thread that would fulfill the event of a task that the parent waits for may not
            // exist here.
            thread.enter(Box::into_raw(Team::new()), 0);
        }
    }
}
