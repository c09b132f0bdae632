//! Explicit tasks. OpenMP 5.2, chapter 12, and sections 15.4 and 15.5 (taskgroup, taskwait).
//!
//! This file defines a task and the state that a team and each of its members keep for tasks;
//! README.md beside this file specifies the protocol. `create` creates and submits tasks,
//! `execution` executes and completes them, `wait` implements every wait that executes tasks
//! meanwhile, `deque` holds ready tasks, `memory` their blocks; `depend`, `event`, `taskloop` and
//! `reduction` implement the clauses of these names.
//!
//! Which threads take part in a region, and how threads sleep, is left to [`team`](super::team).

use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crossbeam::utils::CachePadded;

use crate::icv::Icvs;
use crate::runtime::RUNTIME;
use crate::team::Team;
use children::Children;
use deque::Deque;
use epoch::{Counts, TaskEpoch};
use memory::Blocks;
use ompvm_support::sync::{self, Mutex};
use wakeups::Wakeups;

pub mod children;
pub mod create;
pub mod depend;
pub mod deque;
pub mod epoch;
pub mod event;
pub mod execution;
pub mod memory;
pub mod reduction;
pub mod taskloop;
pub mod wait;
pub mod wakeups;

/// Routine of a task, as the compiler emits it.
pub type Routine = unsafe extern "C-unwind" fn(gtid: i32, task: *mut Payload) -> i32;

/// The part of a task that the compiler knows: `kmp_task_t`, followed by private variables and, if
/// the runtime placed them, pointers to shared ones.
#[repr(C)]
pub struct Payload {
    /// Pointers to shared variables.
    pub shareds: *mut c_void,
    /// Routine that executes the task.
    pub routine: Option<Routine>,
    /// Part at which an untied task resumes.
    pub part: i32,
    /// Routine that destroys private variables.
    pub destructors: Option<Routine>,
    /// The priority.
    pub priority: i32,
}

/// Bits of [`Task::flags`]: first the compiler's, then the runtime's.
pub mod flag {
    pub use omp_abi::task_flag::*;

    /// The bits that the compiler passes.
    pub const COMPILERS: u32 = 0xff;
    /// Being executed.
    pub const STARTED: u32 = 1 << 16;
    /// An untied task continues with its next part.
    pub const AGAIN: u32 = 1 << 17;
    /// Counted in `created`, to be counted in `finished`.
    pub const COUNTED: u32 = 1 << 18;
    /// Implicit task.
    pub const IMPLICIT: u32 = 1 << 19;
}

/// Size in bytes of the header in front of a payload.
pub const HEADER: usize = size_of::<Task>();
const _: () = assert!(HEADER == 192);
const _: () = assert!(std::mem::offset_of!(Task, spawned) == 64);
const _: () = assert!(std::mem::offset_of!(Task, children) == 128);
const _: () = assert!(std::mem::offset_of!(Task, this) == HEADER - 8);

/// A task. Its memory always holds a task (see `memory`), so a pointer to a completed one may be
/// dereferenced; the values read then have no meaning.
///
/// The first cache line is written before the task is submitted, the second by the thread that
/// executes it, the third by its children.
#[repr(C, align(64))]
pub struct Task {
    /// Task that created this one. Atomic, because thieves look at completed tasks.
    parent: AtomicPtr<Task>,
    /// Number of ancestors up to the implicit task, which has level 0.
    level: AtomicU32,
    /// See [`flag`]; changed only by the thread that creates or executes the task.
    pub flags: Cell<u32>,
    /// Innermost taskgroup: the one that the task belongs to, or one that it began.
    pub group: Cell<*mut Group>,
    /// The compiler's part of the task.
    pub payload: Cell<*mut Payload>,
    /// Next block in a list of free blocks.
    next: Cell<*mut Task>,
    pool: *const Blocks,
    class: Cell<u32>,
    /// Priority; 0 if not given.
    pub priority: Cell<i32>,
    /// Size of the payload in bytes.
    pub(crate) bytes: Cell<usize>,

    /// Number of children submitted. Atomic, because the thread that completes a child may read it
    /// late.
    spawned: AtomicU32,
    /// Thread number plus one of the member that sleeps in this task; 0 if none does.
    pub waiter: AtomicU32,
    /// Control variables of the task.
    pub icvs: Cell<Icvs>,
    /// Number for tools; 0 until requested.
    id: Cell<u64>,
    /// Team that the task belongs to.
    pub team: Cell<*const Team>,
    /// Node of its dependences, on which it holds one count; null if it has none.
    pub node: Cell<*const depend::Node>,

    /// Completion state of the children and of the task itself.
    children: Children,
    /// State of its event, see `event`.
    event: AtomicU32,
    /// Dependences of its children; null if they have none.
    table: Cell<*mut depend::Table>,
    /// Data for a tool that has seen the task.
    pub(crate) tool: Cell<*const c_void>,
    rest: [usize; 3],
    /// Pointer to the task itself: the word before a payload points to its task.
    this: *mut Task,
}

/// A taskgroup region.
pub struct Group {
    /// Number of tasks in the group that are not complete.
    pub members: AtomicU64,
    /// The enclosing group.
    pub outer: *mut Group,
    /// Task that waits at the end of the group.
    pub owner: *mut Task,
    /// True if the group was canceled, so that its tasks that have not begun are discarded.
    pub canceled: AtomicBool,
    /// Task reductions of the group.
    pub reductions: Vec<reduction::Reduction>,
}

impl Group {
    fn new(outer: *mut Group, owner: *mut Task) -> Self {
        Self {
            members: AtomicU64::new(0),
            outer,
            owner,
            canceled: AtomicBool::new(false),
            reductions: Vec::new(),
        }
    }
}

impl Task {
    fn new(pool: *const Blocks, class: u32, this: *mut Task) -> Self {
        Self {
            parent: AtomicPtr::new(null_mut()),
            level: AtomicU32::new(0),
            flags: Cell::new(0),
            group: Cell::new(null_mut()),
            payload: Cell::new(null_mut()),
            next: Cell::new(null_mut()),
            pool,
            class: Cell::new(class),
            priority: Cell::new(0),
            bytes: Cell::new(0),
            spawned: AtomicU32::new(0),
            waiter: AtomicU32::new(0),
            icvs: Cell::new(Icvs::default()),
            id: Cell::new(0),
            team: Cell::new(std::ptr::null()),
            node: Cell::new(std::ptr::null()),
            children: Children::default(),
            event: AtomicU32::new(0),
            table: Cell::new(null_mut()),
            tool: Cell::new(std::ptr::null()),
            rest: [0; 3],
            this,
        }
    }

    /// Returns the task of a payload.
    ///
    /// # Safety
    /// [`Blocks::get`] created the payload.
    #[inline(always)]
    pub unsafe fn from_payload(payload: *mut Payload) -> *mut Task {
        // SAFETY: the word before a payload points to its task, which `Blocks::get` wrote.
        unsafe { *payload.cast::<*mut Task>().sub(1) }
    }

    /// Returns true if all of `bits` are set.
    #[inline(always)]
    pub fn has(&self, bits: u32) -> bool {
        self.flags.get() & bits == bits
    }

    /// Sets bits of the flags.
    #[inline(always)]
    pub fn set(&self, bits: u32) {
        self.flags.set(self.flags.get() | bits);
    }

    /// Returns the task that created this one; null for an implicit task.
    #[inline(always)]
    pub fn parent(&self) -> *mut Task {
        // Relaxed: written before the task was submitted.
        self.parent.load(Ordering::Relaxed)
    }

    /// Returns true if the task descends from `ancestor`. May be called on a completed task: the
    /// result then has no meaning, but the call terminates.
    pub fn descends_from(&self, ancestor: &Task) -> bool {
        // Relaxed, for all loads: a task that is not complete had them written before it was
        // submitted, and its ancestors' memory stays until it is complete.
        let level = ancestor.level.load(Ordering::Relaxed);
        let mut below = self.level.load(Ordering::Relaxed);
        let mut at = self.parent();
        loop {
            if std::ptr::eq(at, ancestor) {
                return true;
            }
            // SAFETY: null, or memory that always holds a task.
            let Some(task) = (unsafe { at.as_ref() }) else {
                return false;
            };
            let here = task.level.load(Ordering::Relaxed);
            // Levels that do not decrease belong to completed tasks.
            if here <= level || here >= below {
                return false;
            }
            below = here;
            at = task.parent();
        }
    }

    /// Returns true if all children submitted so far are done. Acquire: their effects are visible
    /// then.
    #[inline(always)]
    pub fn children_done(&self) -> bool {
        // Relaxed: written only by this task.
        self.children.all_done(self.spawned.load(Ordering::Relaxed))
    }

    /// Returns the task's number for tools.
    pub fn number(&self) -> u64 {
        if self.id.get() == 0 {
            let last = &RUNTIME.tasks.last_number;
            self.id.set(last.fetch_add(1, Ordering::Relaxed) + 1);
        }
        self.id.get()
    }
}

/// Parts of tasks that all teams of a process share.
pub(crate) struct ProcessTasks {
    /// The last number that a task got for tools.
    last_number: AtomicU64,
    /// Lock under which several exclusions are acquired at once ([`depend`]).
    exclusions: CachePadded<Mutex<()>>,
    /// Pools of blocks without an owner ([`memory`]).
    spare_pools: CachePadded<Mutex<Vec<&'static Blocks>>>,
}

impl ProcessTasks {
    /// Returns the state before the first task.
    pub(crate) const fn new() -> ProcessTasks {
        ProcessTasks {
            last_number: AtomicU64::new(0),
            exclusions: CachePadded::new(Mutex::new(())),
            spare_pools: CachePadded::new(Mutex::new(Vec::new())),
        }
    }
}

/// State of one member for the tasks of one team.
#[derive(Default)]
pub struct MemberTasks {
    /// The member's ready tasks.
    pub deque: Deque<Task>,
    /// Numbers of deferred tasks that this member submitted, and of tasks that it completed, since
    /// the team was created.
    counts: Counts,
    /// 1 while the member waits and may execute only some tasks meanwhile.
    pub busy: AtomicU32,
    own: CurrentTasks,
}

/// State that only the member itself accesses.
struct CurrentTasks {
    /// The task being executed; null before the first.
    task: Cell<*mut Task>,
    /// The implicit task; null until needed.
    implicit: Cell<*mut Task>,
    /// Innermost tied task on this thread, from which a new one must descend.
    bound: Cell<*mut Task>,
    /// Number of the member to steal from next.
    victim: Cell<u32>,
    /// Number of checks of victims.
    checks: Cell<u32>,
}

impl Default for CurrentTasks {
    fn default() -> Self {
        Self {
            task: Cell::new(null_mut()),
            implicit: Cell::new(null_mut()),
            bound: Cell::new(null_mut()),
            victim: Cell::new(0),
            checks: Cell::new(0),
        }
    }
}

// SAFETY: only the member accesses `own`; the rest is atomic.
unsafe impl Sync for MemberTasks {}
// SAFETY: no field is bound to a thread; a member may be another thread in another region.
unsafe impl Send for MemberTasks {}

impl std::fmt::Debug for MemberTasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemberTasks")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl Drop for MemberTasks {
    fn drop(&mut self) {
        let implicit = self.own.implicit.get();
        if !implicit.is_null() {
            // SAFETY: the team is being dropped, and with it every task that could refer to this
            // one.
            unsafe { Blocks::put_from_outside(implicit) };
        }
    }
}

/// State that the members of a team share for tasks.
pub struct TeamTasks {
    /// The current task epoch.
    pub epoch: TaskEpoch,
    /// Wake-ups for tasks.
    wakeups: Wakeups,
    /// Number of tasks completed by threads that are not members.
    finished: sync::AtomicU64,
    /// Length of `line`.
    waiting: CachePadded<AtomicU32>,
    /// Tasks that are in no member's deque: those with a priority, highest first, and those that a
    /// foreign thread made ready.
    line: sync::Mutex<VecDeque<*mut Task>>,
}

// SAFETY: the pointers in `line` are to tasks of the team, used under the lock.
unsafe impl Sync for TeamTasks {}
// SAFETY: no field is bound to a thread.
unsafe impl Send for TeamTasks {}

impl Default for TeamTasks {
    fn default() -> Self {
        Self {
            epoch: TaskEpoch::default(),
            wakeups: Wakeups::default(),
            finished: sync::AtomicU64::new(0),
            waiting: CachePadded::new(AtomicU32::new(0)),
            line: sync::Mutex::new(VecDeque::new()),
        }
    }
}
