//! Explicit tasks, traced. OpenMP 5.2, chapter 12.
//!
//! A task's routine is replaced by [`routine`] when the task is made, which reports that the thread
//! turns to it and back, and calls the program's in between. What is kept of a task hangs at the
//! runtime's record of it, one reference to it, until its last event.
//!
//! What not: the events of one thread lie in turn; between two threads nothing orders callbacks but
//! what orders the tasks.

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::calls::{self, BEGIN, Dependence, END};
use super::record::{self, ENDED, FULFILLED, Task as Record, flag, inside, state};
use super::sync;
use crate::kmpc::abi;
use crate::kmpc::ident::Ident;
use crate::kmpc::task::depend::{self, Item};
use crate::kmpc::task::{self, Payload, Routine, Task, create, event, run, taskloop};
use crate::support::sync::lock;

/// What `ompt_callback_task_schedule` says of the task that is left.
mod status {
    pub const COMPLETE: i32 = 1;
    pub const YIELD: i32 = 2;
    pub const CANCEL: i32 = 3;
    pub const DETACH: i32 = 4;
    pub const EARLY_FULFILL: i32 = 5;
    pub const LATE_FULFILL: i32 = 6;
    pub const SWITCH: i32 = 7;
    pub const TASKWAIT_COMPLETE: i32 = 8;
}

/// `ompt_work_taskloop`.
const TASKLOOP: i32 = 7;
/// `ompt_dispatch_taskloop_chunk`.
const TASKLOOP_CHUNK: i32 = 4;
/// `ompt_cancel_taskgroup | ompt_cancel_discarded_task`.
const DISCARDED: u32 = 0x48;
/// The compiler's flag of a task with a `mergeable` clause.
const MERGEABLE: u32 = 4;

/// What is kept of a task; none where no tool saw it made.
fn record(task: &Task) -> Option<&Record> {
    // SAFETY: the reference that `attach` left, until `release`.
    unsafe { task.tool.get().cast::<Record>().as_ref() }
}

/// Hangs a record at a task.
fn attach(task: &Task, record: Arc<Record>) {
    task.tool.set(Arc::into_raw(record).cast());
}

/// Takes the task's reference to its record away, once. The word stays where siblings may name the
/// task until it is complete: then its parent has a reference.
fn release(task: &Task) -> Option<Arc<Record>> {
    let record = task.tool.get().cast::<Record>();
    if record.is_null() {
        return None;
    }
    // SAFETY: left by `attach`, and taken once.
    let record = unsafe { Arc::from_raw(record) };
    if !record.named.get() {
        task.tool.set(std::ptr::null());
    }
    Some(record)
}

/// One more reference to a record.
///
/// # Safety
/// The record is in an `Arc`.
unsafe fn shared(record: &Record) -> Arc<Record> {
    let record = std::ptr::from_ref(record);
    // SAFETY: the caller's contract.
    unsafe {
        Arc::increment_strong_count(record);
        Arc::from_raw(record)
    }
}

/// Makes a record for a task just allocated with `bytes` of its own.
fn made(task: &Task, flags: u32, routine: Option<Routine>) -> Option<Arc<Record>> {
    let parent = record::me().task()?.clone();
    let mut record = Record::new(flags, parent.parallel.clone(), None);
    record.routine = routine;
    record.memory = (task.payload.get().addr(), task.bytes.get());
    Some(Arc::new(record))
}

/// `__kmpc_omp_task_alloc`.
pub unsafe extern "C-unwind" fn alloc(
    ident: *const Ident,
    gtid: i32,
    flags: i32,
    size: usize,
    shareds: usize,
    routine: Option<Routine>,
) -> *mut Payload {
    // SAFETY: the caller's contract; ours is a routine.
    unsafe {
        let payload = create::alloc(
            ident,
            gtid,
            flags,
            size,
            shareds,
            routine.and(Some(self::routine)),
        );
        let task = &*Task::of(payload);
        let mut kind = flag::EXPLICIT;
        if !task.is(task::flag::TIED) {
            kind |= flag::UNTIED;
        }
        if task.is(task::flag::FINAL) {
            kind |= flag::FINAL;
        }
        if flags as u32 & MERGEABLE != 0 {
            kind |= flag::MERGEABLE;
        }
        let parent = create::current(crate::kmpc::thread::by_number(gtid));
        if crate::kmpc::thread::by_number(gtid).team().size() == 1
            || (*parent).is(task::flag::FINAL)
        {
            kind |= flag::UNDEFERRED;
        }
        match made(task, kind, routine) {
            Some(record) => attach(task, record),
            None => (*payload).routine = routine,
        }
        payload
    }
}

/// `__kmpc_omp_target_task_alloc`.
pub unsafe extern "C-unwind" fn alloc_target(
    ident: *const Ident,
    gtid: i32,
    flags: i32,
    size: usize,
    shareds: usize,
    routine: Option<Routine>,
    _device: i64,
) -> *mut Payload {
    // SAFETY: the same contract.
    unsafe { alloc(ident, gtid, flags, size, shareds, routine) }
}

/// A copy of a taskloop's task gets a record of its own.
pub fn duplicated(pattern: &Task, task: &Task) {
    let Some(old) = record(pattern) else {
        return;
    };
    let code = record::me().code.get();
    if let Some(new) = made(task, old.flags.get(), old.routine) {
        new.chunk.set(old.chunk.get());
        created(&new, false, code);
        attach(task, new);
    }
}

/// Reports that the current task has made another.
fn created(new: &Record, dependences: bool, code: usize) {
    if let Some(parent) = record::me().task().cloned() {
        calls::task_create(
            parent.data(),
            parent.frame(),
            new.data(),
            new.flags.get(),
            dependences.into(),
            code,
        );
    }
}

/// Reports the iterations of a taskloop's task.
fn report_chunk(own: &Record, payload: *mut Payload) {
    let (lower, upper, step) = own.chunk.get();
    if step == 0 {
        return;
    }
    // SAFETY: the bounds lie in the task's data, as in the pattern's.
    let (first, last) = unsafe {
        (
            payload.byte_offset(lower).cast::<u64>().read(),
            payload.byte_offset(upper).cast::<u64>().read(),
        )
    };
    let given = calls::Chunk {
        start: first,
        iterations: taskloop::trip_count(first, last, step),
    };
    let instance = (&raw const given).addr() as u64;
    calls::dispatch(own.parallel.data(), own.data(), TASKLOOP_CHUNK, instance);
}

/// A task's routine where there is a tool.
unsafe extern "C-unwind" fn routine(gtid: i32, payload: *mut Payload) -> i32 {
    // SAFETY: the runtime calls it with a task that it executes.
    let task = unsafe { &*Task::of(payload) };
    let Some(own) = record(task) else { return 0 };
    let (me, Some(routine)) = (record::me(), own.routine) else {
        return 0;
    };
    // SAFETY: `attach`'s reference is one more than we take.
    let own = unsafe { shared(own) };
    let before = me.task().cloned();
    let outer = before.as_ref().map_or(null_mut(), |t| t.data());
    let left = if me.yields.replace(false) {
        status::YIELD
    } else {
        status::SWITCH
    };
    own.number.set(crate::kmpc::thread::by_number(gtid).tid());
    own.set_outer(before.clone());
    me.set_task(Some(own.clone()));
    let outside = me.state.replace(state::PARALLEL);
    calls::task_schedule(outer, left, own.data());
    report_chunk(&own, payload);
    // SAFETY: the program's routine with its own structure.
    let result = unsafe { abi::call_routine_noting(gtid, payload, routine, own.exit_slot()) };
    own.set_exit(0);
    // What the destructors of private variables and later parts are told by is the task around.
    let over = !task.is(task::flag::AGAIN);
    let stopped = run::cancelled(crate::kmpc::thread::by_number(gtid), task);
    let (said, last) = if !over {
        (status::SWITCH, false)
    } else if task.completes_later() {
        // AcqRel: with `fulfill`, the second of the two ends the record.
        if own.fate.fetch_or(ENDED, Ordering::AcqRel) & FULFILLED != 0 {
            (status::COMPLETE, true)
        } else {
            (status::DETACH, false)
        }
    } else if stopped {
        (status::CANCEL, true)
    } else {
        (status::COMPLETE, true)
    };
    calls::task_schedule(own.data(), said, outer);
    me.set_task(before);
    me.state.set(outside);
    if over {
        own.set_outer(None);
        lock(&own.kept).clear();
    }
    if last {
        release(task);
    }
    result
}

/// A task that was never begun has been cancelled.
pub fn discarded(task: &Task) {
    let me = record::me();
    let outer = me.task().map_or(null_mut(), |t| t.data());
    if let Some(record) = record(task) {
        calls::cancel(record.data(), DISCARDED, 0);
        calls::task_schedule(outer, status::SWITCH, record.data());
        calls::task_schedule(record.data(), status::CANCEL, outer);
        if !task.completes_later() {
            release(task);
        }
    }
}

/// `__kmpc_omp_task` and `__kmpc_omp_task_parts`.
///
/// # Safety
/// As for [`create::submit`].
pub unsafe extern "C-unwind" fn submit(
    ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) -> i32 {
    let at = inside(None);
    // SAFETY: the caller's contract.
    unsafe {
        let task = &*Task::of(payload);
        if !task.is(task::flag::STARTED)
            && let Some(record) = record(task)
        {
            created(record, false, at.code);
        }
        create::submit(ident, gtid, payload)
    }
}

/// The items of both lists as a tool is told them.
///
/// # Safety
/// As for [`depend::items`].
unsafe fn told(count: i32, list: *const Item, more: i32, other: *const Item) -> Vec<Dependence> {
    let kind = |item: &Item| match item.plain_kind() {
        // Compilers do not say whether it is `out` or `inout`: libomp calls it the former.
        _ if item.everywhere() => 34,
        8 => 7,
        kind => i32::from(kind),
    };
    // SAFETY: the caller's contract.
    unsafe { depend::items(count, list, more, other) }
        .map(|item| Dependence {
            variable: if item.everywhere() {
                0
            } else {
                item.address as u64
            },
            kind: kind(item),
        })
        .collect()
}

/// `__kmpc_omp_task_with_deps`.
///
/// # Safety
/// As for [`depend::submit`].
pub unsafe extern "C-unwind" fn submit_with(
    ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
    count: i32,
    list: *const Item,
    more: i32,
    other: *const Item,
) -> i32 {
    let at = inside(None);
    // SAFETY: the caller's contract.
    unsafe {
        let task = &*Task::of(payload);
        if !task.is(task::flag::STARTED)
            && let Some(record) = record(task)
        {
            let items = told(count, list, more, other);
            created(record, !items.is_empty(), at.code);
            if !items.is_empty() {
                calls::dependences(record.data(), items.as_ptr(), items.len() as i32);
                // A later sibling may name it when it is over.
                record.named.set(true);
                lock(&at.task.kept).push(shared(record));
            }
        }
        depend::submit(ident, gtid, payload, count, list, more, other)
    }
}

/// A task that is being submitted has to wait for a sibling.
pub fn depends(before: &Task, task: &Task) {
    // The sibling may be between its end and its completion, but its parent, which we execute, has
    // a reference to its record.
    if let (Some(source), Some(sink)) = (record(before), record(task)) {
        calls::task_dependence(source.data(), sink.data());
    }
}

/// A wait for the siblings that dependences name: a task of its own to a tool.
unsafe fn waiting(
    (count, list, more, other): (i32, *const Item, i32, *const Item),
    wait: impl FnOnce(),
) {
    let at = inside(Some(state::TASKWAIT));
    // SAFETY: the caller's contract.
    let items = unsafe { told(count, list, more, other) };
    let kind = flag::TASKWAIT | flag::UNDEFERRED | flag::MERGEABLE;
    let new = Record::new(kind, at.task.parallel.clone(), None);
    created(&new, !items.is_empty(), at.code);
    calls::dependences(new.data(), items.as_ptr(), items.len() as i32);
    wait();
    calls::task_schedule(new.data(), status::TASKWAIT_COMPLETE, null_mut());
}

/// `__kmpc_omp_wait_deps`, before an undeferred task.
///
/// # Safety
/// As for [`depend::wait_for`].
pub unsafe extern "C-unwind" fn wait_for(
    ident: *const Ident,
    gtid: i32,
    count: i32,
    list: *const Item,
    more: i32,
    other: *const Item,
) {
    // SAFETY: the caller's contract.
    unsafe {
        waiting((count, list, more, other), || {
            depend::wait_for(ident, gtid, count, list, more, other)
        });
    }
}

/// `__kmpc_omp_taskwait_deps_51`.
///
/// # Safety
/// As for [`depend::taskwait`].
pub unsafe extern "C-unwind" fn taskwait_with(
    ident: *const Ident,
    gtid: i32,
    count: i32,
    list: *const Item,
    more: i32,
    other: *const Item,
    nowait: i32,
) {
    // SAFETY: the caller's contract.
    unsafe {
        waiting((count, list, more, other), || {
            depend::taskwait(ident, gtid, count, list, more, other, nowait)
        });
    }
}

/// `__kmpc_omp_task_begin_if0`.
///
/// # Safety
/// As for [`create::begin_undeferred`].
pub unsafe extern "C-unwind" fn begin_undeferred(
    ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) {
    let at = inside(None);
    let frame = at.me.frame.get();
    // SAFETY: the caller's contract.
    let task = unsafe { &*Task::of(payload) };
    let own = record(task).map(|own| {
        own.flags.set(own.flags.get() | flag::UNDEFERRED);
        created(own, false, at.code);
        // SAFETY: `attach`'s reference is one more.
        unsafe { shared(own) }
    });
    // SAFETY: the caller's contract.
    unsafe { create::begin_undeferred(ident, gtid, payload) };
    if let Some(own) = own {
        let (me, outer) = (at.me, at.task.clone());
        // The task that made it stays where it is until the end of this one.
        std::mem::forget(at);
        calls::task_schedule(outer.data(), status::SWITCH, own.data());
        own.number.set(crate::kmpc::thread::by_number(gtid).tid());
        own.set_outer(Some(outer));
        own.set_exit(frame);
        me.set_task(Some(own));
    }
}

/// `__kmpc_omp_task_complete_if0`.
///
/// # Safety
/// As for [`create::end_undeferred`].
pub unsafe extern "C-unwind" fn end_undeferred(
    ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) {
    // SAFETY: the caller's contract.
    let task = unsafe { &*Task::of(payload) };
    let mut late = false;
    let own = record(task).and_then(|own| {
        // AcqRel: with `fulfill`, the second of the two ends the record.
        late =
            task.completes_later() && own.fate.fetch_or(ENDED, Ordering::AcqRel) & FULFILLED == 0;
        if late {
            // SAFETY: `attach`'s reference is one more.
            Some(unsafe { shared(own) })
        } else {
            release(task)
        }
    });
    if let Some(own) = &own {
        own.set_exit(0);
        let outer = own.outer().cloned();
        if let Some(outer) = outer {
            let stopped = run::cancelled(crate::kmpc::thread::by_number(gtid), task);
            let said = if late {
                status::DETACH
            } else if stopped {
                status::CANCEL
            } else {
                status::COMPLETE
            };
            calls::task_schedule(own.data(), said, outer.data());
            // SAFETY: this thread's own frame, left by `begin_undeferred`.
            unsafe { (*outer.frame()).enter = 0 };
            record::me().set_task(Some(outer));
        }
        own.set_outer(None);
    }
    // SAFETY: the caller's contract.
    unsafe { create::end_undeferred(ident, gtid, payload) };
}

/// `omp_fulfill_event`.
///
/// # Safety
/// As for [`event::fulfill`].
pub unsafe extern "C-unwind" fn fulfill(event: usize) {
    let task = std::ptr::with_exposed_provenance_mut::<Task>(event);
    // SAFETY: the caller's contract: the task waits for this.
    if let Some(task) = unsafe { task.as_ref() }
        && let Some(own) = record(task)
    {
        // SAFETY: `attach`'s reference is one more; whoever comes second takes that one.
        let own = unsafe { shared(own) };
        if own.fate.fetch_or(FULFILLED, Ordering::AcqRel) & ENDED != 0 {
            calls::task_schedule(own.data(), status::LATE_FULFILL, null_mut());
            release(task);
        } else {
            calls::task_schedule(own.data(), status::EARLY_FULFILL, null_mut());
        }
    }
    // SAFETY: the caller's contract.
    unsafe { event::fulfill(event) };
}

/// `__kmpc_taskloop_5`: its taskgroup is told by the traced entries.
///
/// # Safety
/// As for [`taskloop::run_strict`].
pub unsafe extern "C-unwind" fn taskloop_strict(
    ident: *const Ident,
    gtid: i32,
    pattern: *mut Payload,
    condition: i32,
    lower: *mut u64,
    upper: *mut u64,
    step: i64,
    nogroup: i32,
    kind: i32,
    number: u64,
    strict: i32,
    copy: taskloop::Copy,
) {
    let at = inside(None);
    let (parallel, task) = at.words();
    // SAFETY: the caller's contract, in all of this block.
    unsafe {
        let trip = taskloop::trip_count(*lower, *upper, step);
        calls::work(TASKLOOP, BEGIN, parallel, task, trip, at.code);
        if nogroup == 0 {
            sync::begin_group(ident, gtid);
        }
        if let Some(own) = record(&*Task::of(pattern)) {
            if condition == 0 {
                own.flags.set(own.flags.get() | flag::UNDEFERRED);
            }
            let bounds = (
                lower.byte_offset_from(pattern),
                upper.byte_offset_from(pattern),
            );
            own.chunk.set((bounds.0, bounds.1, step));
        }
        let record = {
            let pattern = &*Task::of(pattern);
            record(pattern).map(|own| shared(own))
        };
        taskloop::run_strict(
            ident, gtid, pattern, condition, lower, upper, step, 1, kind, number, strict, copy,
        );
        // The pattern is gone, and nothing else refers to its record.
        if let Some(record) = record {
            Arc::decrement_strong_count(Arc::as_ptr(&record));
        }
        if nogroup == 0 {
            sync::end_group(ident, gtid);
        }
        calls::work(TASKLOOP, END, parallel, task, trip, at.code);
    }
}

/// `__kmpc_taskloop`.
///
/// # Safety
/// As for [`taskloop::run`].
pub unsafe extern "C-unwind" fn taskloop(
    ident: *const Ident,
    gtid: i32,
    pattern: *mut Payload,
    condition: i32,
    lower: *mut u64,
    upper: *mut u64,
    step: i64,
    nogroup: i32,
    kind: i32,
    number: u64,
    copy: taskloop::Copy,
) {
    // SAFETY: the caller's contract.
    unsafe {
        taskloop_strict(
            ident, gtid, pattern, condition, lower, upper, step, nogroup, kind, number, 0, copy,
        );
    }
}
