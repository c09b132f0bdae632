//! A team: the threads of one parallel region and the state they share.
//!
//! A team outlives its region: its master keeps it, with its workers attached, for the next region
//! (see README.md beside this file). Every thread outside of a parallel region is the master of an
//! implicit team of one. State that threads share in worksharing constructs (loop buffers, the
//! single counter, the copyprivate pointer) lives here. State of one thread within a team lives in
//! [`MemberState`], so that nested regions need not save it.

pub mod parker;
pub mod team_core;

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crossbeam::utils::CachePadded;

use crate::affinity::TeamPlacement;
use crate::cancel::CancelRequests;
use crate::containment::Failure;
use crate::dispatch::{LoopBuffer, LoopState};
use crate::doacross::DoacrossNest;
use crate::icv::Icvs;
use crate::ident::Ident;
use crate::reduce::Method;
use crate::task::wait::{EpochWork, drain};
use crate::task::{MemberTasks, TeamTasks};
use crate::thread::Thread;
use ompvm_support::fp_env::FpControl;
use parker::SpinPolicy;
use team_core::{BarrierAlgorithm, Slot, TeamCore};

/// Maximum number of loops without a closing barrier that a thread may run ahead of the slowest
/// one.
pub const LOOP_BUFFERS: usize = 8;

/// A thread's `(nteams, team number)` in a `teams` region; `(1, 0)` outside.
pub type League = (u32, u32);

/// Number of microtask arguments that travel in the cache line of the launch.
pub const INLINE_ARGS: usize = 4;

/// Microtask and data environment of a region; written by the master before the start. Fields are
/// in the order in which a worker first uses them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The outlined body, `void(i32 *gtid, i32 *btid, N pointers)`.
    pub microtask: *const c_void,
    /// Number of pointer arguments.
    pub argc: u32,
    /// Floating-point environment that the members start with.
    pub fp: FpControl,
    /// The first arguments, if there are no more than these.
    pub inline_args: [*mut c_void; INLINE_ARGS],
    /// All arguments, in the master's frame.
    pub argv: *const *mut c_void,
    /// Data environment that the implicit tasks start with.
    pub icvs: Icvs,
    /// True if affinity matters, so that members apply their place assignments.
    pub placed: bool,
    /// True if faults of the members return to the master's caller ([`crate::containment`]).
    pub contained: bool,
}

impl Work {
    /// Returns a description with a data environment and nothing to execute.
    pub fn none(icvs: Icvs) -> Self {
        Self {
            microtask: std::ptr::null(),
            argc: 0,
            fp: FpControl::NONE,
            inline_args: [std::ptr::null_mut(); INLINE_ARGS],
            argv: std::ptr::null(),
            icvs,
            placed: false,
            contained: false,
        }
    }

    /// Copies the arguments to the launch's cache line if they fit there.
    ///
    /// # Safety
    /// `argv` has `argc` elements.
    #[inline(always)]
    pub unsafe fn copy_arguments(&mut self) {
        let argc = self.argc as usize;
        if argc <= INLINE_ARGS {
            for (i, arg) in self.inline_args.iter_mut().take(argc).enumerate() {
                // SAFETY: `argv` has `argc` elements (the caller's contract).
                *arg = unsafe { *self.argv.add(i) };
            }
        }
    }

    /// Returns the arguments, from the launch's cache line if they fit there.
    #[inline(always)]
    pub fn args(&self) -> *const *mut c_void {
        if self.argc as usize <= INLINE_ARGS {
            self.inline_args.as_ptr()
        } else {
            self.argv
        }
    }
}

/// Description of a region, written before its start.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Region {
    work: Work,
    shape: Shape,
}

/// Shape of a region: its size, nesting and barriers; written by the master before the start.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of participating threads.
    pub size: u32,
    /// Barrier algorithm.
    pub barrier_algorithm: BarrierAlgorithm,
    /// Spin policy of waiting members.
    pub spin_policy: SpinPolicy,
    /// Nesting depth of parallel regions, inactive ones included.
    pub level: u32,
    /// Nesting depth of active parallel regions.
    pub active_level: u32,
    /// Team that the master was in.
    pub parent: *const Team,
    /// Number of the master in `parent`.
    pub parent_tid: u32,
    /// Position in a league of teams.
    pub league: League,
    /// Team of the thread that began the contention group; null if that is this team.
    pub group: *const Team,
    /// The `parallel` directive.
    pub ident: *const Ident,
}

/// State of one thread within one team.
#[derive(Debug)]
pub struct MemberState {
    /// Number of `single` constructs encountered in this region.
    pub singles: Cell<u64>,
    /// Number of loops with a shared buffer encountered in this region.
    pub loops: Cell<u32>,
    /// For the master: true if tasks were completed in this region, so that the team may have
    /// visitors left.
    pub visited: Cell<bool>,
    /// True if the region was canceled and this thread has passed the barrier that leaves it.
    pub left: Cell<bool>,
    /// The dispatched loop being executed.
    pub current_loop: UnsafeCell<LoopState>,
    /// The doacross nest being executed.
    pub nest: DoacrossNest,
    /// Chunks of stealing loops that this thread has not executed, one word per loop buffer.
    pub ranges: CachePadded<[AtomicU64; LOOP_BUFFERS]>,
    /// Reduction list that this thread contributes.
    pub reduce_data: AtomicPtr<c_void>,
    /// Method by which the current reduction combines.
    pub reduce_method: Cell<Method>,
    /// Number of the contained region that the member has left; 0 if it runs guest code.
    pub finished: AtomicU32,
    /// The system's number of the member's thread in a contained region.
    pub system: AtomicI32,
    /// State for explicit tasks.
    pub tasks: CachePadded<MemberTasks>,
}

impl MemberState {
    /// Returns true if the member has left this region, and the region is contained.
    pub fn is_contained(&self, region: u32) -> bool {
        self.finished.load(Ordering::Relaxed) == region
    }
}

impl Default for MemberState {
    fn default() -> Self {
        Self {
            singles: Cell::new(0),
            loops: Cell::new(0),
            visited: Cell::new(false),
            left: Cell::new(false),
            current_loop: UnsafeCell::new(LoopState::default()),
            nest: DoacrossNest::default(),
            ranges: CachePadded::new(std::array::from_fn(|_| AtomicU64::new(0))),
            reduce_data: AtomicPtr::new(std::ptr::null_mut()),
            reduce_method: Cell::new(Method::Alone),
            finished: AtomicU32::new(0),
            system: AtomicI32::new(0),
            tasks: CachePadded::default(),
        }
    }
}

/// The threads of one parallel region and the state they share.
pub struct Team {
    /// Team core: launch, barriers, join.
    pub core: TeamCore<MemberState, Region>,
    /// Number of `single` constructs whose block has been taken.
    pub singles: CachePadded<AtomicU64>,
    /// List of the thread that executed a `single` with `copyprivate`.
    pub copyprivate: CachePadded<AtomicPtr<c_void>>,
    /// Pending cancellation requests.
    pub cancel: CachePadded<CancelRequests>,
    /// The fault that ended the region.
    pub failure: Failure,
    /// Loop buffers, used in turn.
    pub buffers: [CachePadded<LoopBuffer>; LOOP_BUFFERS],
    /// Explicit tasks.
    pub tasks: TeamTasks,
    /// Attached workers plus one for the master; whoever decrements it to zero frees the team.
    pub holders: AtomicU32,
    /// Number of workers of regions in this contention group, if this team began it; counted only
    /// under a thread limit.
    pub busy: AtomicU32,
    /// Number of attached workers; used by the master alone.
    pub workers: Cell<u32>,
    /// Placement of the members; written under the same rule as the description, see
    /// [`TeamCore::describe`].
    pub placement: TeamPlacement,
}

// SAFETY: only the master accesses `workers`; the master writes `placement` between regions and
// participants read it during one, as with the description; all other fields are `Sync`.
unsafe impl Sync for Team {}
// SAFETY: no field of a team is bound to the thread that created it.
unsafe impl Send for Team {}

impl Team {
    /// Creates a team of one at level 0.
    pub fn new() -> Box<Self> {
        let shape = Shape {
            size: 1,
            barrier_algorithm: BarrierAlgorithm::AllToAll,
            spin_policy: SpinPolicy::NONE,
            level: 0,
            active_level: 0,
            parent: std::ptr::null(),
            parent_tid: 0,
            league: (1, 0),
            group: std::ptr::null(),
            ident: std::ptr::null(),
        };
        Box::new(Self {
            core: TeamCore::new(Region {
                work: Work::none(Icvs::default()),
                shape,
            }),
            singles: CachePadded::new(AtomicU64::new(0)),
            copyprivate: CachePadded::new(AtomicPtr::new(std::ptr::null_mut())),
            cancel: CachePadded::default(),
            failure: Failure::default(),
            buffers: std::array::from_fn(|i| CachePadded::new(LoopBuffer::new(i as u32))),
            tasks: TeamTasks::default(),
            holders: AtomicU32::new(1),
            busy: AtomicU32::new(0),
            workers: Cell::new(0),
            placement: TeamPlacement::default(),
        })
    }

    /// Returns the shape of the region.
    #[inline(always)]
    pub fn shape(&self) -> &Shape {
        &self.core.description().shape
    }

    /// Returns what the region executes.
    #[inline(always)]
    pub fn work(&self) -> &Work {
        &self.core.description().work
    }

    /// Returns the counter of busy workers in the team's contention group.
    pub fn group(&self) -> &AtomicU32 {
        // SAFETY: null or an enclosing team, which lives as long as a region in it runs.
        let team = unsafe { self.shape().group.as_ref() };
        &team.unwrap_or(self).busy
    }

    /// Returns the number of threads in the team.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.shape().size
    }

    /// Writes the description of the next region.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    #[inline(always)]
    pub unsafe fn prepare(&self, shape: Shape, work: Work) {
        // SAFETY: the caller is the master and no region runs, as `describe` requires.
        unsafe {
            self.core
                .describe(|region| *region = Region { work, shape })
        };
    }

    /// Returns the slot of thread `tid`.
    ///
    /// # Safety
    /// The caller takes part in the running region (or is the master), and `tid` is in the team.
    #[inline(always)]
    pub unsafe fn slot(&self, tid: u32) -> &Slot<MemberState> {
        // SAFETY: the caller participates and `tid` is in range, as `TeamCore::slot` requires.
        unsafe { self.core.slot(tid) }
    }

    /// Waits for all members and completes the tasks that were submitted since the last barrier.
    ///
    /// # Safety
    /// `thread` takes part in this team's region.
    #[inline]
    pub unsafe fn barrier(&self, thread: &Thread) {
        let shape = self.shape();
        let idle_work = EpochWork::new(thread);
        // SAFETY: `thread` takes part in the region, and passes its own number and the region's
        // shape.
        unsafe {
            if shape.size > 1 {
                self.core.barrier(
                    thread.tid(),
                    shape.size,
                    shape.barrier_algorithm,
                    shape.spin_policy,
                    &idle_work,
                );
            }
            self.after_barrier(thread);
        }
    }

    /// First half of a barrier, see [`TeamCore::gather`].
    ///
    /// # Safety
    /// `thread` takes part in this team's region; it calls [`Team::release`] next.
    pub unsafe fn gather(&self, thread: &Thread, absorb: impl FnMut(u32)) {
        let shape = self.shape();
        let idle_work = EpochWork::new(thread);
        // SAFETY: `thread` takes part in the region with this number, and calls `release` next.
        unsafe {
            self.core.gather(
                thread.tid(),
                shape.size,
                shape.spin_policy,
                &idle_work,
                absorb,
            );
        }
    }

    /// Second half of a barrier.
    ///
    /// # Safety
    /// The same thread has called [`Team::gather`] before.
    pub unsafe fn release(&self, thread: &Thread) {
        let shape = self.shape();
        let idle_work = EpochWork::new(thread);
        // SAFETY: `thread` takes part in the region with this number, and has called `gather`.
        unsafe {
            self.core
                .release(thread.tid(), shape.size, shape.spin_policy, &idle_work);
            self.after_barrier(thread);
        }
    }

    /// Completes the tasks of the task epoch that the barrier ends.
    ///
    /// # Safety
    /// `thread` takes part in this team's region and has just passed its barrier.
    #[inline(always)]
    unsafe fn after_barrier(&self, thread: &Thread) {
        // If tasks were submitted before the barrier, its arrivals published the epoch's number,
        // and the number stays until the master has ended the epoch. If none were, the number may
        // already be that of the next epoch.
        let open = self.tasks.epoch.number();
        // SAFETY: `thread` asks for the epoch of its own number, and drains as a member of the
        // region that passed the epoch's last barrier.
        unsafe {
            if open != 0 && (open == self.core.epoch(thread.tid()) || self.size() == 1) {
                drain(thread, open);
            }
        }
    }

    /// Resets the shared loop buffers. The master does so before a region if the last one used
    /// them.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    pub unsafe fn reset_worksharing(&self) {
        for (i, buffer) in self.buffers.iter().enumerate() {
            buffer.reset(i as u32);
        }
    }

    /// Resets all worksharing state after a canceled region of `size` threads, which its members
    /// left in the middle of constructs.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    #[cold]
    pub unsafe fn reset_canceled(&self, size: u32) {
        self.cancel.clear();
        self.singles.store(0, Ordering::Relaxed);
        // SAFETY: the caller is the master and no region runs.
        unsafe { self.reset_worksharing() };
        for buffer in &self.buffers {
            buffer.reset_tickets();
        }
        for tid in 0..size {
            // SAFETY: the caller is the master, and `tid` is below the size of the last region.
            for range in unsafe { self.slot(tid) }.local.ranges.iter() {
                range.store(0, Ordering::Relaxed);
            }
        }
    }
}
