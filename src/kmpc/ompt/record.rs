//! Records for a tool: of threads, parallel regions and tasks.
//!
//! A thread's current task names the enclosing one, down to the initial task. So inquiries walk one
//! chain, and the runtime's own structures need no additions. A record, and with it the words to
//! which the tool has pointers, lives as long as it is referenced.
//!
//! Without a tool no record is created or read.

use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::TOOL;
use super::callbacks::{self, BEGIN, END, Word};
use crate::runtime::LOCALS;
use crate::task::Routine;
use ompvm_support::sync::Mutex;

/// Bits of a task's flags (`ompt_task_flag_t`).
pub mod flag {
    pub const INITIAL: u32 = 1;
    pub const IMPLICIT: u32 = 2;
    pub const EXPLICIT: u32 = 4;
    pub const TASKWAIT: u32 = 0x10;
    pub const UNDEFERRED: u32 = 0x0800_0000;
    pub const UNTIED: u32 = 0x1000_0000;
    pub const FINAL: u32 = 0x2000_0000;
    pub const MERGEABLE: u32 = 0x4000_0000;
}

/// States of a thread (`ompt_state_t`).
pub mod state {
    pub const SERIAL: u32 = 0;
    pub const PARALLEL: u32 = 1;
    pub const REDUCTION: u32 = 2;
    pub const BARRIER_PARALLEL: u32 = 0x11;
    pub const BARRIER_WORKSHARE: u32 = 0x12;
    pub const BARRIER_EXPLICIT: u32 = 0x14;
    pub const BARRIER_IMPLEMENTATION: u32 = 0x15;
    pub const TASKWAIT: u32 = 0x20;
    pub const TASKGROUP: u32 = 0x21;
    pub const LOCK: u32 = 0x41;
    pub const CRITICAL: u32 = 0x42;
    pub const ORDERED: u32 = 0x44;
    pub const IDLE: u32 = 0x100;
    pub const OVERHEAD: u32 = 0x101;
    pub const UNDEFINED: u32 = 0x102;
}

/// The barrier at the end of a region (`ompt_sync_region_t`).
const JOIN: i32 = 9;

/// `ompt_frame_t`.
#[repr(C)]
#[derive(Debug)]
pub struct Frame {
    pub exit: usize,
    pub enter: usize,
    pub exit_flags: i32,
    pub enter_flags: i32,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            exit: 0,
            enter: 0,
            exit_flags: CANONICAL,
            enter_flags: CANONICAL,
        }
    }
}

/// `ompt_frame_runtime | ompt_frame_cfa`. libomp sets it for every frame since release 22, frame
/// pointers included, and LLVM's tools require it.
const CANONICAL: i32 = 0x10;

/// A parallel region.
#[derive(Debug)]
pub struct RegionRecord {
    data: UnsafeCell<u64>,
    pub size: AtomicU32,
    pub outer: Option<Arc<RegionRecord>>,
}

// SAFETY: the word is the tool's, by the specification's rules; the rest is atomic or constant.
unsafe impl Sync for RegionRecord {}
// SAFETY: no field is bound to a thread.
unsafe impl Send for RegionRecord {}

impl RegionRecord {
    pub fn new(size: u32, outer: Option<Arc<RegionRecord>>) -> Arc<Self> {
        Arc::new(Self {
            data: UnsafeCell::new(0),
            size: AtomicU32::new(size),
            outer,
        })
    }

    pub fn data(&self) -> Word {
        self.data.get()
    }
}

/// Bit of [`TaskRecord::completion`]: the routine has ended.
pub const ENDED: u32 = 1;
/// Bit of [`TaskRecord::completion`]: the event was fulfilled.
pub const FULFILLED: u32 = 2;

/// A task.
#[derive(Debug)]
pub struct TaskRecord {
    data: UnsafeCell<u64>,
    frame: UnsafeCell<Frame>,
    pub flags: Cell<u32>,
    pub parallel: Arc<RegionRecord>,
    /// The enclosing task: the one that forked the region, or that the thread left for this task.
    outer: UnsafeCell<Option<Arc<TaskRecord>>>,
    /// Number of the executing thread in its team.
    pub number: Cell<u32>,
    /// Routine of an explicit task.
    pub routine: Option<Routine>,
    /// Address and size of its data (`ompt_get_task_memory`).
    pub memory: (usize, usize),
    pub completion: AtomicU32,
    /// Kind of the dispatched loop being executed.
    pub work: Cell<i32>,
    /// Offsets of a taskloop's bounds in the task's data, and the loop's step, which is 0 for other
    /// tasks.
    pub chunk: Cell<(isize, isize, i64)>,
    /// True if siblings may name the task: it has dependences, and its parent keeps it.
    pub named: Cell<bool>,
    /// Children with dependences, which later ones may name.
    pub kept: Mutex<Vec<Arc<TaskRecord>>>,
}

// SAFETY: only the executing thread (before, the creating one) accesses cells; the tool reads words
// and frames on that thread, or on one that the task encloses.
unsafe impl Sync for TaskRecord {}
// SAFETY: no field is bound to a thread.
unsafe impl Send for TaskRecord {}

impl TaskRecord {
    pub fn new(flags: u32, parallel: Arc<RegionRecord>, outer: Option<Arc<TaskRecord>>) -> Self {
        Self {
            data: UnsafeCell::new(0),
            frame: UnsafeCell::default(),
            flags: Cell::new(flags),
            parallel,
            outer: UnsafeCell::new(outer),
            number: Cell::new(0),
            routine: None,
            memory: (0, 0),
            completion: AtomicU32::new(0),
            work: Cell::new(0),
            chunk: Cell::new((0, 0, 0)),
            named: Cell::new(false),
            kept: Mutex::new(Vec::new()),
        }
    }

    pub fn data(&self) -> Word {
        self.data.get()
    }

    pub fn frame(&self) -> *mut Frame {
        self.frame.get()
    }

    pub fn outer(&self) -> Option<&Arc<TaskRecord>> {
        // SAFETY: written before the task becomes a current one.
        unsafe { (*self.outer.get()).as_ref() }
    }

    /// Sets the enclosing task.
    pub fn set_outer(&self, outer: Option<Arc<TaskRecord>>) {
        // SAFETY: the calling thread begins or ends the task, and is the only one to read it then.
        drop(unsafe { std::mem::replace(&mut *self.outer.get(), outer) });
    }

    /// Returns the location that holds the frame pointer of the frame that calls the task's code.
    pub fn exit_slot(&self) -> *mut usize {
        // SAFETY: only this thread writes frames of the task.
        unsafe { &raw mut (*self.frame.get()).exit }
    }

    /// Sets the frame under which the task's code runs; 0 for none.
    pub fn set_exit(&self, frame: usize) {
        // SAFETY: only this thread writes frames of the task.
        unsafe { *self.exit_slot() = frame };
    }
}

/// A thread.
pub struct ThreadRecord {
    data: UnsafeCell<u64>,
    pub initial: bool,
    pub state: Cell<u32>,
    pub wait: Cell<u64>,
    /// Return address of the last entry.
    pub code: Cell<usize>,
    /// Canonical frame address of the last entry.
    pub cfa: Cell<usize>,
    /// Frame of the code that called the last entry.
    pub frame: Cell<usize>,
    task: UnsafeCell<Option<Arc<TaskRecord>>>,
    /// True if a worker's part of a region is over and its end is not reported yet.
    pending: Cell<bool>,
    /// True in a `taskyield`.
    pub yields: Cell<bool>,
}

thread_local! {
    /// The destructor of a thread of the program.
    static AT_END: AtEnd = const { AtEnd };
}

/// Runs when a thread of the program ends.
struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        if let Some(me) = current_if_known()
            && !me.initial
        {
            root_ends(me);
            // SAFETY: `make` leaked the record; it is not reachable any more, and no entry is being
            // executed.
            drop(unsafe { Box::from_raw(std::ptr::from_ref(me).cast_mut()) });
        }
    }
}

/// Returns the number of workers whose end was not reported.
pub fn workers() -> u32 {
    TOOL.workers.load(Ordering::Acquire)
}

/// `ompt_thread_t`.
const INITIAL: i32 = 1;
const WORKER: i32 = 2;

/// Returns the calling thread, if it was reported.
pub fn current_if_known() -> Option<&'static ThreadRecord> {
    // SAFETY: null, or a record that `make` leaked and that is freed only at the thread's end.
    unsafe { LOCALS.with(|l| l.record.get()).as_ref() }
}

fn make(initial: bool, state: u32) -> &'static ThreadRecord {
    let me = Box::leak(Box::new(ThreadRecord {
        data: UnsafeCell::new(0),
        initial,
        state: Cell::new(state),
        wait: Cell::new(0),
        code: Cell::new(0),
        cfa: Cell::new(0),
        frame: Cell::new(0),
        task: UnsafeCell::new(None),
        pending: Cell::new(false),
        yields: Cell::new(false),
    }));
    LOCALS.with(|l| l.record.set(me));
    me
}

/// Returns the calling thread; a thread of the program is reported at its first call.
pub fn current() -> &'static ThreadRecord {
    current_if_known().unwrap_or_else(root_begins)
}

/// Reports a thread of the program, and its initial task.
#[cold]
pub fn root_begins() -> &'static ThreadRecord {
    // Its end is the program's, reported by the end of the tool.
    // SAFETY: the calls take no arguments.
    let initial = unsafe { libc::gettid() == libc::getpid() };
    let me = make(initial, state::OVERHEAD);
    if !initial {
        let _ = AT_END.try_with(|_| ());
    }
    callbacks::thread_begin(INITIAL, me.data());
    let parallel = RegionRecord::new(1, None);
    let task = Arc::new(TaskRecord::new(flag::INITIAL, parallel, None));
    callbacks::implicit_task(
        BEGIN,
        task.parallel.data(),
        task.data(),
        1,
        1,
        flag::INITIAL,
    );
    me.set_task(Some(task));
    me.state.set(state::SERIAL);
    me
}

/// Reports the end of a thread of the program. Its record stays, since the thread may be in an
/// entry.
pub fn root_ends(me: &'static ThreadRecord) {
    let mut task = me.task().cloned();
    // At `exit` inside regions, the initial task is further out.
    while let Some(outer) = task.as_ref().and_then(|t| t.outer().cloned()) {
        task = Some(outer);
    }
    if let Some(task) = task {
        callbacks::implicit_task(END, std::ptr::null_mut(), task.data(), 0, 1, flag::INITIAL);
    }
    callbacks::thread_end(me.data());
    me.set_task(None);
    LOCALS.with(|l| l.record.set(std::ptr::null()));
}

/// Reports the calling thread as a worker.
#[cold]
pub fn worker_begins() {
    let me = make(false, state::OVERHEAD);
    TOOL.workers.fetch_add(1, Ordering::AcqRel);
    callbacks::thread_begin(WORKER, me.data());
    me.state.set(state::IDLE);
}

/// Reports the end of the calling worker.
#[cold]
pub fn worker_ends() {
    if let Some(me) = current_if_known() {
        close_region();
        callbacks::thread_end(me.data());
        LOCALS.with(|l| l.record.set(std::ptr::null()));
        // SAFETY: `make` leaked the record, which is not reachable any more.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(me).cast_mut()) });
        TOOL.workers.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Reports the end of the calling worker's part of the last region. It is not known before the next
/// command arrives, since the region may have tasks for the worker until then.
#[cold]
pub fn close_region() {
    let Some(me) = current_if_known() else { return };
    if !me.pending.replace(false) {
        return;
    }
    if let Some(task) = me.task().cloned() {
        leave_join(&task, 0);
        me.set_task(None);
    }
    me.state.set(state::IDLE);
}

/// Reports that an implicit task waits at the end of its region.
pub fn enter_join(me: &ThreadRecord, task: &TaskRecord, code: usize) {
    me.state.set(state::BARRIER_PARALLEL);
    let parallel = task.parallel.data();
    callbacks::sync_region(JOIN, BEGIN, parallel, task.data(), code);
    callbacks::sync_region_wait(JOIN, BEGIN, parallel, task.data(), code);
    me.pending.set(true);
}

/// Reports the end of an implicit task whose team has more than one thread.
pub fn leave_join(task: &TaskRecord, code: usize) {
    let none = std::ptr::null_mut();
    callbacks::sync_region_wait(JOIN, END, none, task.data(), code);
    callbacks::sync_region(JOIN, END, none, task.data(), code);
    implicit_ends(task);
}

/// Reports the end of an implicit task.
pub fn implicit_ends(task: &TaskRecord) {
    let size = task.parallel.size.load(Ordering::Relaxed);
    let number = task.number.get();
    let flags = task.flags.get() & (flag::INITIAL | flag::IMPLICIT);
    // As in libomp; the specification requires 0 for initial tasks alone.
    let size = if flags & flag::INITIAL == 0 { size } else { 0 };
    callbacks::implicit_task(END, std::ptr::null_mut(), task.data(), size, number, flags);
}

impl ThreadRecord {
    pub fn data(&self) -> Word {
        self.data.get()
    }

    /// Returns the task being executed.
    pub fn task(&self) -> Option<&Arc<TaskRecord>> {
        // SAFETY: only the thread itself accesses its task.
        unsafe { (*self.task.get()).as_ref() }
    }

    /// Sets the current task; returns the previous one.
    pub fn set_task(&self, task: Option<Arc<TaskRecord>>) -> Option<Arc<TaskRecord>> {
        // SAFETY: only the thread itself accesses its task; callers hold no reference across this.
        unsafe { std::mem::replace(&mut *self.task.get(), task) }
    }

    /// Records that the master's join was reported by itself.
    pub fn joined(&self) {
        self.pending.set(false);
    }
}

/// An entry being executed: the task that called it has left its own code.
pub struct EntryScope {
    pub me: &'static ThreadRecord,
    pub task: Arc<TaskRecord>,
    /// Return address of the entry.
    pub code: usize,
    state: u32,
    marked: bool,
}

/// Marks the calling thread as being in an entry, called from the location that the gate recorded.
pub fn enter_entry(state: Option<u32>) -> EntryScope {
    let me = current();
    let task = match me.task() {
        Some(task) => task.clone(),
        // A worker outside of regions makes no calls; a late call after the end gets a temporary
        // task.
        None => Arc::new(TaskRecord::new(
            flag::INITIAL,
            RegionRecord::new(1, None),
            None,
        )),
    };
    let frame = task.frame();
    // SAFETY: the current task's frame is this thread's.
    let marked = unsafe {
        let marked = (*frame).enter == 0;
        if marked {
            (*frame).enter = me.cfa.get();
        }
        marked
    };
    let before = me.state.get();
    if let Some(state) = state {
        me.state.set(state);
    }
    EntryScope {
        me,
        task,
        code: me.code.get(),
        state: before,
        marked,
    }
}

impl EntryScope {
    /// Returns the words of region and task.
    pub fn words(&self) -> (Word, Word) {
        (self.task.parallel.data(), self.task.data())
    }
}

impl Drop for EntryScope {
    fn drop(&mut self) {
        self.me.state.set(self.state);
        if self.marked {
            // SAFETY: the task's frame is this thread's, marked in `enter_entry`.
            unsafe { (*self.task.frame()).enter = 0 };
        }
    }
}
