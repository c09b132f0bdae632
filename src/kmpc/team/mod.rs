//! A team: the threads of one parallel region and what they share.
//!
//! A team outlives its region: its master keeps it, with its workers attached, for the next region
//! (see README.md beside this file). Every thread outside a parallel region is the master of an
//! implicit team of one. What threads share in worksharing constructs (loop buffers, the single
//! counter, the copyprivate pointer) lives here; what one thread keeps for a team lives in
//! [`Local`], so that nested regions need not save it.

pub mod gang;
pub mod parker;

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crossbeam::utils::CachePadded;

use crate::kmpc::affinity::Placed;
use crate::kmpc::cancel::Requests;
use crate::kmpc::dispatch::{LoopBuffer, LoopState};
use crate::kmpc::doacross::Nest;
use crate::kmpc::icv::Icvs;
use crate::kmpc::ident::Ident;
use crate::kmpc::reduce::Method;
use crate::kmpc::task::wait::{Help, drain};
use crate::kmpc::task::{MemberTasks, TeamTasks};
use crate::kmpc::thread::Thread;
use crate::support::fp_env::FpControl;
use gang::{Gang, Meeting, Slot};
use parker::Patience;

/// Loops without a barrier at their end that a thread may be ahead of the slowest one.
pub const LOOP_BUFFERS: usize = 8;

/// A thread's number list of `(nteams, team number)` in a `teams` region; `(1, 0)` outside.
pub type League = (u32, u32);

/// Arguments of a microtask that travel in the same cache line as the launch.
pub const INLINE_ARGS: usize = 4;

/// What the region executes: written by the master before the start. The order of the fields is
/// that of their first use by a worker.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The outlined body, `void(i32 *gtid, i32 *btid, N pointers)`.
    pub microtask: *const c_void,
    /// Number of pointer arguments.
    pub argc: u32,
    /// The floating-point environment that the members start with.
    pub fp: FpControl,
    /// The first arguments.
    pub inline_args: [*mut c_void; INLINE_ARGS],
    /// All arguments, in the master's frame.
    pub argv: *const *mut c_void,
    /// The data environment the implicit tasks start with.
    pub icvs: Icvs,
    /// Affinity matters: members take their seats.
    pub placed: bool,
}

impl Work {
    /// Nothing to execute, with a data environment.
    pub fn none(icvs: Icvs) -> Self {
        Self {
            microtask: std::ptr::null(),
            argc: 0,
            fp: FpControl::NONE,
            inline_args: [std::ptr::null_mut(); INLINE_ARGS],
            argv: std::ptr::null(),
            icvs,
            placed: false,
        }
    }

    /// The arguments, from the nearest place.
    #[inline(always)]
    pub fn args(&self) -> *const *mut c_void {
        if self.argc as usize <= INLINE_ARGS {
            self.inline_args.as_ptr()
        } else {
            self.argv
        }
    }
}

/// All that is written for a region.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Region {
    work: Work,
    shape: Shape,
}

/// What the region is: written by the master before the start.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Threads that take part.
    pub size: u32,
    /// How they meet.
    pub meeting: Meeting,
    /// How long they spin.
    pub patience: Patience,
    /// Nesting depth of parallel regions, inactive ones included.
    pub level: u32,
    /// Nesting depth of active parallel regions.
    pub active_level: u32,
    /// The team the master was in.
    pub parent: *const Team,
    /// The master's thread number there.
    pub parent_tid: u32,
    /// The place in a league of teams.
    pub league: League,
    /// The team of the thread that began the contention group; null where it is this one.
    pub group: *const Team,
    /// The `parallel` directive.
    pub ident: *const Ident,
}

/// What one thread keeps for one team.
#[derive(Debug)]
pub struct Local {
    /// `single` constructs met in this region.
    pub singles: Cell<u64>,
    /// Loops with a shared buffer met in this region.
    pub loops: Cell<u32>,
    /// The master's: tasks were completed in this region, and visitors of the team may be left.
    pub visited: Cell<bool>,
    /// The region was cancelled, and this thread has met the others to leave it.
    pub left: Cell<bool>,
    /// The dispatched loop being executed.
    pub current_loop: UnsafeCell<LoopState>,
    /// The doacross nest being executed.
    pub nest: Nest,
    /// Chunks of stealing loops this thread has not executed, one word per loop buffer.
    pub ranges: CachePadded<[AtomicU64; LOOP_BUFFERS]>,
    /// The reduction list this thread offers.
    pub reduce_data: AtomicPtr<c_void>,
    /// How the reduction being executed combines.
    pub reduce_method: Cell<Method>,
    /// What it keeps for explicit tasks.
    pub tasks: CachePadded<MemberTasks>,
}

impl Default for Local {
    fn default() -> Self {
        Self {
            singles: Cell::new(0),
            loops: Cell::new(0),
            visited: Cell::new(false),
            left: Cell::new(false),
            current_loop: UnsafeCell::new(LoopState::default()),
            nest: Nest::default(),
            ranges: CachePadded::new(std::array::from_fn(|_| AtomicU64::new(0))),
            reduce_data: AtomicPtr::new(std::ptr::null_mut()),
            reduce_method: Cell::new(Method::Alone),
            tasks: CachePadded::default(),
        }
    }
}

/// The threads of one parallel region and what they share.
pub struct Team {
    /// Launch, barriers, join.
    pub gang: Gang<Local, Region>,
    /// `single` constructs whose block has been taken.
    pub singles: CachePadded<AtomicU64>,
    /// The list of the thread that executed a `single` with `copyprivate`.
    pub copyprivate: CachePadded<AtomicPtr<c_void>>,
    /// What was asked to be cancelled.
    pub cancel: CachePadded<Requests>,
    /// Loop buffers, used in turn.
    pub buffers: [CachePadded<LoopBuffer>; LOOP_BUFFERS],
    /// Explicit tasks.
    pub tasks: TeamTasks,
    /// Workers attached plus one for the master; who takes it to zero frees the team.
    pub holders: AtomicU32,
    /// Workers of regions in this contention group, where this team began it; counted only under a
    /// thread limit.
    pub busy: AtomicU32,
    /// Workers attached; the master's alone.
    pub workers: Cell<u32>,
    /// How its members are bound: written like the description, see [`Gang::describe`].
    pub placed: Placed,
}

// SAFETY: `workers` is the master's; `placed` is written by the master between regions and read by
// participants, like the description; the rest is Sync by itself.
unsafe impl Sync for Team {}
// SAFETY: nothing in a team is bound to the thread that created it.
unsafe impl Send for Team {}

impl Team {
    /// A team of one at level 0.
    pub fn new() -> Box<Self> {
        let shape = Shape {
            size: 1,
            meeting: Meeting::AllToAll,
            patience: Patience::NONE,
            level: 0,
            active_level: 0,
            parent: std::ptr::null(),
            parent_tid: 0,
            league: (1, 0),
            group: std::ptr::null(),
            ident: std::ptr::null(),
        };
        Box::new(Self {
            gang: Gang::new(Region {
                work: Work::none(Icvs::default()),
                shape,
            }),
            singles: CachePadded::new(AtomicU64::new(0)),
            copyprivate: CachePadded::new(AtomicPtr::new(std::ptr::null_mut())),
            cancel: CachePadded::default(),
            buffers: std::array::from_fn(|i| CachePadded::new(LoopBuffer::new(i as u32))),
            tasks: TeamTasks::default(),
            holders: AtomicU32::new(1),
            busy: AtomicU32::new(0),
            workers: Cell::new(0),
            placed: Placed::default(),
        })
    }

    /// What the region is.
    #[inline(always)]
    pub fn shape(&self) -> &Shape {
        &self.gang.description().shape
    }

    /// What the region executes.
    #[inline(always)]
    pub fn work(&self) -> &Work {
        &self.gang.description().work
    }

    /// Workers busy in the team's contention group.
    pub fn group(&self) -> &AtomicU32 {
        // SAFETY: the team around, which lives as long as a region in it runs.
        let team = unsafe { self.shape().group.as_ref() };
        &team.unwrap_or(self).busy
    }

    /// Threads in the team.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.shape().size
    }

    /// Writes what the next region is and executes.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    #[inline(always)]
    pub unsafe fn prepare(&self, shape: Shape, work: Work) {
        // SAFETY: the caller's contract.
        unsafe {
            self.gang
                .describe(|region| *region = Region { work, shape })
        };
    }

    /// The place of thread `tid`.
    ///
    /// # Safety
    /// The caller takes part in the running region (or is the master), and `tid` is in the team.
    #[inline(always)]
    pub unsafe fn slot(&self, tid: u32) -> &Slot<Local> {
        // SAFETY: the caller's contract.
        unsafe { self.gang.slot(tid) }
    }

    /// Meets all members, and completes the tasks submitted since the last meeting.
    ///
    /// # Safety
    /// `thread` takes part in this team's region.
    #[inline]
    pub unsafe fn barrier(&self, thread: &Thread) {
        let shape = self.shape();
        let errand = Help::by(thread);
        // SAFETY: the caller's contract.
        unsafe {
            if shape.size > 1 {
                self.gang.barrier(
                    thread.tid(),
                    shape.size,
                    shape.meeting,
                    shape.patience,
                    &errand,
                );
            }
            self.after_meeting(thread);
        }
    }

    /// First half of a barrier, see [`Gang::gather`].
    ///
    /// # Safety
    /// `thread` takes part in this team's region; it calls [`Team::release`] next.
    pub unsafe fn gather(&self, thread: &Thread, absorb: impl FnMut(u32)) {
        let shape = self.shape();
        let errand = Help::by(thread);
        // SAFETY: the caller's contract.
        unsafe {
            self.gang
                .gather(thread.tid(), shape.size, shape.patience, &errand, absorb);
        }
    }

    /// Second half of a barrier.
    ///
    /// # Safety
    /// After [`Team::gather`] by the same thread.
    pub unsafe fn release(&self, thread: &Thread) {
        let shape = self.shape();
        let errand = Help::by(thread);
        // SAFETY: the caller's contract.
        unsafe {
            self.gang
                .release(thread.tid(), shape.size, shape.patience, &errand);
            self.after_meeting(thread);
        }
    }

    /// Completes the tasks of the interval that the meeting ends.
    #[inline(always)]
    unsafe fn after_meeting(&self, thread: &Thread) {
        // If tasks were submitted before the meeting, its arrivals brought us the number, and it stays
        // until the master has ended the interval. It may be that of the next already, if there
        // were none.
        let open = self.tasks.interval.number();
        // SAFETY: the caller's contract.
        unsafe {
            if open != 0 && (open == self.gang.epoch(thread.tid()) || self.size() == 1) {
                drain(thread, open);
            }
        }
    }

    /// Makes the loop buffers and the counters of `tid` as new. The master does so for the shared
    /// ones before a region when the last one used them.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    pub unsafe fn reset_worksharing(&self) {
        for (i, buffer) in self.buffers.iter().enumerate() {
            buffer.reset(i as u32);
        }
    }

    /// Makes all that worksharing uses as new after a region of `size` threads that was cancelled:
    /// they left it in the midst of constructs.
    ///
    /// # Safety
    /// Only the master may call it, while no region runs.
    #[cold]
    pub unsafe fn reset_cancelled(&self, size: u32) {
        self.cancel.clear();
        self.singles.store(0, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { self.reset_worksharing() };
        for buffer in &self.buffers {
            buffer.forget_turns();
        }
        for tid in 0..size {
            // SAFETY: the caller's contract.
            for range in unsafe { self.slot(tid) }.local.ranges.iter() {
                range.store(0, Ordering::Relaxed);
            }
        }
    }
}
