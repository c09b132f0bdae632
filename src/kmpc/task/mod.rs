//! Explicit tasks. OpenMP 5.2, chapter 12, and sections 15.4 and 15.5 (taskgroup, taskwait).
//!
//! Here is what a task is and what a team and each of its members keep for tasks; README.md beside this
//! file states the protocol. `create` makes tasks and submits them, `run` executes and completes
//! them, `wait` is everything that waits and helps meanwhile, `deque` holds what is to be
//! executed, `memory` the blocks; `depend`, `event`, `taskloop` and `reduction` are the clauses of
//! these names.
//!
//! What not: which thread takes part in a region, and how threads sleep, is `team`'s.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crossbeam::utils::CachePadded;

use crate::kmpc::icv::Icvs;
use crate::kmpc::team::Team;
use crate::support::sync;
use calls::Calls;
use children::Children;
use deque::Deque;
use interval::{Counts, Interval};
use memory::Blocks;

pub mod calls;
pub mod children;
pub mod create;
pub mod depend;
pub mod deque;
pub mod event;
pub mod interval;
pub mod memory;
pub mod reduction;
pub mod run;
pub mod taskloop;
pub mod wait;

/// A task's routine, as the compiler makes it.
pub type Routine = unsafe extern "C-unwind" fn(gtid: i32, task: *mut Payload) -> i32;

/// What the compiler knows of a task: `kmp_task_t`, followed by private variables and, where the
/// runtime put them, pointers to shared ones.
#[repr(C)]
pub struct Payload {
    /// Pointers to shared variables.
    pub shareds: *mut c_void,
    /// What the task executes.
    pub routine: Option<Routine>,
    /// Where an untied task goes on.
    pub part: i32,
    /// The routine that destroys private variables.
    pub destructors: Option<Routine>,
    /// The priority.
    pub priority: i32,
}

/// Bits of [`Task::flags`]: those of the compiler, then ours.
pub mod flag {
    /// Tied to the thread that starts it.
    pub const TIED: u32 = 1;
    /// Final: its descendants are final and included.
    pub const FINAL: u32 = 2;
    /// Private variables need destructors.
    pub const DESTRUCTORS: u32 = 8;
    /// Complete only when somebody says so.
    pub const PROXY: u32 = 16;
    /// The priority was given.
    pub const PRIORITY: u32 = 32;
    /// Complete only when its event is fulfilled, too.
    pub const DETACHED: u32 = 64;
    /// Those the compiler gives.
    pub const COMPILERS: u32 = 0xff;
    /// It is being executed.
    pub const STARTED: u32 = 1 << 16;
    /// An untied task is to go on with its next part.
    pub const AGAIN: u32 = 1 << 17;
    /// Counted in `created`, to be counted in `finished`.
    pub const COUNTED: u32 = 1 << 18;
    /// An implicit task.
    pub const IMPLICIT: u32 = 1 << 19;
}

/// Bytes in front of a payload.
pub const HEADER: usize = size_of::<Task>();
const _: () = assert!(HEADER == 192);
const _: () = assert!(std::mem::offset_of!(Task, spawned) == 64);
const _: () = assert!(std::mem::offset_of!(Task, children) == 128);
const _: () = assert!(std::mem::offset_of!(Task, this) == HEADER - 8);

/// A task. Its memory always holds a task (see `memory`), so a pointer to one may be followed even
/// when the task is over; what is read then means nothing.
///
/// The first line is written before the task is submitted, the second by the thread that executes
/// it, the third by its children.
#[repr(C, align(64))]
pub struct Task {
    /// The task that created it. Atomic, as thieves look at tasks that are no longer there.
    parent: AtomicPtr<Task>,
    /// Tasks between it and its implicit task, which has 0.
    level: AtomicU32,
    /// See [`flag`]; the thread that creates it or executes it alone changes them.
    pub flags: Cell<u32>,
    /// The innermost taskgroup: that which the task belongs to, or one that it began.
    pub group: Cell<*mut Group>,
    /// What the compiler knows of it.
    pub payload: Cell<*mut Payload>,
    /// The next in a list of free blocks.
    next: Cell<*mut Task>,
    pool: *const Blocks,
    class: Cell<u32>,
    /// The priority; 0 where not given.
    pub priority: Cell<i32>,
    /// Bytes of the payload.
    pub(in crate::kmpc) bytes: Cell<usize>,

    /// Children submitted. Atomic, as who finishes a child may look at it late.
    spawned: AtomicU32,
    /// The thread number plus one of the member that sleeps in this task; 0 where none does.
    pub waiter: AtomicU32,
    /// The control variables it executes with.
    pub icvs: Cell<Icvs>,
    /// Its number for tools; 0 where nobody asked.
    id: Cell<u64>,
    /// The team whose task it is.
    pub team: Cell<*const Team>,
    /// Its dependences; null where it has none. One count of the node.
    pub node: Cell<*const depend::Node>,

    /// Which children are done, and whether it is complete itself.
    children: Children,
    /// Whether its routine has ended and its event was fulfilled, see `event`.
    event: AtomicU32,
    /// The dependences of its children; null where none have any.
    table: Cell<*mut depend::Table>,
    /// What is kept for a tool, where one has seen the task.
    pub(in crate::kmpc) tool: Cell<*const c_void>,
    rest: [usize; 3],
    /// The task again: the word before a payload names its task.
    this: *mut Task,
}

/// A taskgroup region.
pub struct Group {
    /// Tasks of it that are not complete.
    pub members: AtomicU64,
    /// The surrounding one.
    pub outer: *mut Group,
    /// The task that waits at its end.
    pub owner: *mut Task,
    /// Whether it was cancelled: its tasks that have not begun never will.
    pub cancelled: AtomicBool,
    /// What its tasks reduce.
    pub reductions: Vec<reduction::Reduction>,
}

impl Group {
    fn new(outer: *mut Group, owner: *mut Task) -> Self {
        Self {
            members: AtomicU64::new(0),
            outer,
            owner,
            cancelled: AtomicBool::new(false),
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

    /// The task of a payload.
    ///
    /// # Safety
    /// The payload is one that [`Blocks::get`] made.
    #[inline(always)]
    pub unsafe fn of(payload: *mut Payload) -> *mut Task {
        // SAFETY: the word before a payload names its task.
        unsafe { *payload.cast::<*mut Task>().sub(1) }
    }

    /// Whether all of `bits` are set.
    #[inline(always)]
    pub fn is(&self, bits: u32) -> bool {
        self.flags.get() & bits == bits
    }

    /// Sets bits of the flags.
    #[inline(always)]
    pub fn set(&self, bits: u32) {
        self.flags.set(self.flags.get() | bits);
    }

    /// The task that created it; null for an implicit task.
    #[inline(always)]
    pub fn parent(&self) -> *mut Task {
        // Relaxed: written before the task was submitted.
        self.parent.load(Ordering::Relaxed)
    }

    /// Whether it descends from `ancestor`. May be asked of a task that is over: the answer means
    /// nothing then, but comes.
    pub fn descends_from(&self, ancestor: &Task) -> bool {
        // Relaxed, all of them: of a task that is still there they were written before it was
        // submitted, and its ancestors wait for it with their memory.
        let level = ancestor.level.load(Ordering::Relaxed);
        let mut below = self.level.load(Ordering::Relaxed);
        let mut at = self.parent();
        loop {
            if std::ptr::eq(at, ancestor) {
                return true;
            }
            // SAFETY: memory that always holds a task.
            let Some(task) = (unsafe { at.as_ref() }) else {
                return false;
            };
            let here = task.level.load(Ordering::Relaxed);
            // Levels that do not fall are those of tasks that are over.
            if here <= level || here >= below {
                return false;
            }
            below = here;
            at = task.parent();
        }
    }

    /// Whether all children submitted so far are done. Acquire: what they did is visible then.
    #[inline(always)]
    pub fn childless(&self) -> bool {
        // Relaxed: the task's own.
        self.children.all_done(self.spawned.load(Ordering::Relaxed))
    }

    /// Its number for tools.
    pub fn number(&self) -> u64 {
        static LAST: AtomicU64 = AtomicU64::new(0);
        if self.id.get() == 0 {
            self.id.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
        }
        self.id.get()
    }
}

/// What a member keeps for the tasks of one team.
#[derive(Default)]
pub struct MemberTasks {
    /// Its tasks to be executed.
    pub deque: Deque<Task>,
    /// Tasks that this member submitted to be executed later, since the team exists, and that it
    /// completed.
    counts: Counts,
    /// 1 while the member waits for something and may not execute just any task meanwhile.
    pub busy: AtomicU32,
    own: Own,
}

/// What only the member itself touches.
struct Own {
    /// The task being executed; null before the first.
    task: Cell<*mut Task>,
    /// The implicit task, once there was need for one.
    implicit: Cell<*mut Task>,
    /// The task that a new one must descend from: the innermost tied one on this thread.
    bound: Cell<*mut Task>,
    /// Whom to steal from next.
    victim: Cell<u32>,
    /// Counts looks at victims.
    looks: Cell<u32>,
}

impl Default for Own {
    fn default() -> Self {
        Self {
            task: Cell::new(null_mut()),
            implicit: Cell::new(null_mut()),
            bound: Cell::new(null_mut()),
            victim: Cell::new(0),
            looks: Cell::new(0),
        }
    }
}

// SAFETY: `own` is the member's alone; the rest is atomic.
unsafe impl Sync for MemberTasks {}
// SAFETY: a member is another thread in another region.
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
            // SAFETY: the team is gone, and with it every task that could refer to this one.
            unsafe { Blocks::put_from_outside(implicit) };
        }
    }
}

/// What the members of a team share for tasks.
pub struct TeamTasks {
    /// The time since the last meeting, if tasks were submitted in it.
    pub interval: Interval,
    /// Who was woken for a task.
    calls: Calls,
    /// Tasks completed by threads that are not members.
    finished: sync::AtomicU64,
    /// Tasks in `line`.
    waiting: CachePadded<AtomicU32>,
    /// Tasks that are in no member's deque: those with a priority, highest first, and those
    /// that a foreign thread made ready.
    line: sync::Mutex<VecDeque<*mut Task>>,
}

// SAFETY: the pointers in `line` are to tasks of the team, used under the lock.
unsafe impl Sync for TeamTasks {}
// SAFETY: nothing in it is bound to a thread.
unsafe impl Send for TeamTasks {}

impl Default for TeamTasks {
    fn default() -> Self {
        Self {
            interval: Interval::default(),
            calls: Calls::default(),
            finished: sync::AtomicU64::new(0),
            waiting: CachePadded::new(AtomicU32::new(0)),
            line: sync::Mutex::new(VecDeque::new()),
        }
    }
}
