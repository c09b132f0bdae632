//! Traced explicit tasks. OpenMP 5.2, chapter 12.
//!
//! When a task is created its routine is replaced by [`routine`], which reports that the thread
//! switches to the task and back, and calls the program's routine in between. The runtime's task
//! holds one reference to the tool's record of it, until its last event.
//!
//! The events of one thread are ordered. Callbacks on two threads are ordered only as their tasks
//! are.

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::callbacks::{self, BEGIN, Dependence, END};
use super::record::{self, ENDED, FULFILLED, TaskRecord, enter_entry, flag, state};
use super::sync;
use crate::abi;
use crate::ident::Ident;
use crate::task::depend::{self, Item};
use crate::task::{self, Payload, Routine, Task, create, event, execution, taskloop};
use ompvm_support::sync::lock;

/// `ompt_task_status_t`: status of the task that is left.
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

/// Returns the record of a task; `None` if no tool observed its creation.
fn record(task: &Task) -> Option<&TaskRecord> {
    // SAFETY: null, or the reference that `attach` stored, valid until `release`.
    unsafe { task.tool.get().cast::<TaskRecord>().as_ref() }
}

/// Attaches a record to a task.
fn attach(task: &Task, record: Arc<TaskRecord>) {
    task.tool.set(Arc::into_raw(record).cast());
}

/// Takes back the task's reference to its record, once. If siblings may name the task, the word
/// stays until the task is complete; then its parent holds a reference.
fn release(task: &Task) -> Option<Arc<TaskRecord>> {
    let record = task.tool.get().cast::<TaskRecord>();
    if record.is_null() {
        return None;
    }
    // SAFETY: `attach` stored the reference, which is taken once.
    let record = unsafe { Arc::from_raw(record) };
    if !record.named.get() {
        task.tool.set(std::ptr::null());
    }
    Some(record)
}

/// Returns one more reference to a record.
///
/// # Safety
/// The record is in an `Arc`.
unsafe fn shared(record: &TaskRecord) -> Arc<TaskRecord> {
    let record = std::ptr::from_ref(record);
    // SAFETY: the record is in an `Arc` (caller's contract).
    unsafe {
        Arc::increment_strong_count(record);
        Arc::from_raw(record)
    }
}

/// Creates a record for a task that was just allocated.
fn create_record(task: &Task, flags: u32, routine: Option<Routine>) -> Option<Arc<TaskRecord>> {
    let parent = record::current().task()?.clone();
    let mut record = TaskRecord::new(flags, parent.parallel.clone(), None);
    record.routine = routine;
    record.memory = (task.payload.get().addr(), task.bytes.get());
    Some(Arc::new(record))
}

/// Implements `__kmpc_omp_task_alloc`.
pub unsafe extern "C-unwind" fn alloc(
    ident: *const Ident,
    gtid: i32,
    flags: i32,
    size: usize,
    shareds: usize,
    routine: Option<Routine>,
) -> *mut Payload {
    // SAFETY: the arguments are those of this entry; `routine` is a task routine.
    unsafe {
        let payload = create::alloc(
            ident,
            gtid,
            flags,
            size,
            shareds,
            routine.and(Some(self::routine)),
        );
        let task = &*Task::from_payload(payload);
        let mut kind = flag::EXPLICIT;
        if !task.has(task::flag::TIED) {
            kind |= flag::UNTIED;
        }
        if task.has(task::flag::FINAL) {
            kind |= flag::FINAL;
        }
        if flags as u32 & MERGEABLE != 0 {
            kind |= flag::MERGEABLE;
        }
        let parent = create::current(crate::thread::by_number(gtid));
        if crate::thread::by_number(gtid).team().size() == 1 || (*parent).has(task::flag::FINAL) {
            kind |= flag::UNDEFERRED;
        }
        match create_record(task, kind, routine) {
            Some(record) => attach(task, record),
            None => (*payload).routine = routine,
        }
        payload
    }
}

/// Implements `__kmpc_omp_target_task_alloc`.
pub unsafe extern "C-unwind" fn alloc_target(
    ident: *const Ident,
    gtid: i32,
    flags: i32,
    size: usize,
    shareds: usize,
    routine: Option<Routine>,
    _device: i64,
) -> *mut Payload {
    // SAFETY: the contract is that of `alloc`.
    unsafe { alloc(ident, gtid, flags, size, shareds, routine) }
}

/// Creates a record for a copy of a taskloop's task.
pub fn duplicated(pattern: &Task, task: &Task) {
    let Some(old) = record(pattern) else {
        return;
    };
    let code = record::current().code.get();
    if let Some(new) = create_record(task, old.flags.get(), old.routine) {
        new.chunk.set(old.chunk.get());
        report_created(&new, false, code);
        attach(task, new);
    }
}

/// Reports that the current task has created another.
fn report_created(new: &TaskRecord, dependences: bool, code: usize) {
    if let Some(parent) = record::current().task().cloned() {
        callbacks::task_create(
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
fn report_chunk(own: &TaskRecord, payload: *mut Payload) {
    let (lower, upper, step) = own.chunk.get();
    if step == 0 {
        return;
    }
    // SAFETY: the bounds lie in the task's data, at the offsets of the pattern's.
    let (first, last) = unsafe {
        (
            payload.byte_offset(lower).cast::<u64>().read(),
            payload.byte_offset(upper).cast::<u64>().read(),
        )
    };
    let given = callbacks::Chunk {
        start: first,
        iterations: taskloop::trip_count(first, last, step),
    };
    let instance = (&raw const given).addr() as u64;
    callbacks::dispatch(own.parallel.data(), own.data(), TASKLOOP_CHUNK, instance);
}

/// Routine of a task while a tool is attached.
unsafe extern "C-unwind" fn routine(gtid: i32, payload: *mut Payload) -> i32 {
    // SAFETY: the runtime passes a task that it executes.
    let task = unsafe { &*Task::from_payload(payload) };
    let Some(own) = record(task) else { return 0 };
    let (me, Some(routine)) = (record::current(), own.routine) else {
        return 0;
    };
    // SAFETY: `attach` holds a reference, so the record is in an `Arc`.
    let own = unsafe { shared(own) };
    let before = me.task().cloned();
    let outer = before.as_ref().map_or(null_mut(), |t| t.data());
    let left = if me.yields.replace(false) {
        status::YIELD
    } else {
        status::SWITCH
    };
    own.number.set(crate::thread::by_number(gtid).tid());
    own.set_outer(before.clone());
    me.set_task(Some(own.clone()));
    let outside = me.state.replace(state::PARALLEL);
    callbacks::task_schedule(outer, left, own.data());
    report_chunk(&own, payload);
    // SAFETY: calls the program's routine with its own structure.
    let result = unsafe { abi::call_routine_noting(gtid, payload, routine, own.exit_slot()) };
    own.set_exit(0);
    // Destructors of private variables and later parts are reported in the enclosing task.
    let over = !task.has(task::flag::AGAIN);
    let stopped = execution::canceled(crate::thread::by_number(gtid), task);
    let (said, last) = if !over {
        (status::SWITCH, false)
    } else if task.completes_later() {
        // AcqRel: of this and `fulfill` the second one ends the record.
        if own.completion.fetch_or(ENDED, Ordering::AcqRel) & FULFILLED != 0 {
            (status::COMPLETE, true)
        } else {
            (status::DETACH, false)
        }
    } else if stopped {
        (status::CANCEL, true)
    } else {
        (status::COMPLETE, true)
    };
    callbacks::task_schedule(own.data(), said, outer);
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

/// Reports the cancellation of a task that was never begun.
pub fn discarded(task: &Task) {
    let me = record::current();
    let outer = me.task().map_or(null_mut(), |t| t.data());
    if let Some(record) = record(task) {
        callbacks::cancel(record.data(), DISCARDED, 0);
        callbacks::task_schedule(outer, status::SWITCH, record.data());
        callbacks::task_schedule(record.data(), status::CANCEL, outer);
        if !task.completes_later() {
            release(task);
        }
    }
}

/// Implements `__kmpc_omp_task` and `__kmpc_omp_task_parts`.
///
/// # Safety
/// As for [`create::submit`].
pub unsafe extern "C-unwind" fn submit(
    ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) -> i32 {
    let at = enter_entry(None);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe {
        let task = &*Task::from_payload(payload);
        if !task.has(task::flag::STARTED)
            && let Some(record) = record(task)
        {
            report_created(record, false, at.code);
        }
        create::submit(ident, gtid, payload)
    }
}

/// Returns the items of both lists in the form for tools.
///
/// # Safety
/// As for [`depend::items`].
unsafe fn tool_dependences(
    count: i32,
    list: *const Item,
    more: i32,
    other: *const Item,
) -> Vec<Dependence> {
    let kind = |item: &Item| match item.plain_kind() {
        // Compilers do not distinguish `out` from `inout`; libomp reports `out`.
        _ if item.everywhere() => 34,
        omp_abi::depend::SET => 7,
        kind => i32::from(kind),
    };
    // SAFETY: the lists have as many items as the counts say (caller's contract).
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

/// Implements `__kmpc_omp_task_with_deps`.
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
    let at = enter_entry(None);
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe {
        let task = &*Task::from_payload(payload);
        if !task.has(task::flag::STARTED)
            && let Some(record) = record(task)
        {
            let items = tool_dependences(count, list, more, other);
            report_created(record, !items.is_empty(), at.code);
            if !items.is_empty() {
                callbacks::dependences(record.data(), items.as_ptr(), items.len() as i32);
                // A later sibling may name it after its end.
                record.named.set(true);
                lock(&at.task.kept).push(shared(record));
            }
        }
        depend::submit(ident, gtid, payload, count, list, more, other)
    }
}

/// Reports that a task being submitted has to wait for a sibling.
pub fn depends(before: &Task, task: &Task) {
    // The sibling may be between its end and its completion, but its parent, which this thread
    // executes, holds a reference to its record.
    if let (Some(source), Some(sink)) = (record(before), record(task)) {
        callbacks::task_dependence(source.data(), sink.data());
    }
}

/// Reports a wait for the siblings that dependences name, which is a task of its own for a tool.
///
/// # Safety
/// As for [`depend::items`].
unsafe fn waiting(
    (count, list, more, other): (i32, *const Item, i32, *const Item),
    wait: impl FnOnce(),
) {
    let at = enter_entry(Some(state::TASKWAIT));
    // SAFETY: the lists have as many items as the counts say (caller's contract).
    let items = unsafe { tool_dependences(count, list, more, other) };
    let kind = flag::TASKWAIT | flag::UNDEFERRED | flag::MERGEABLE;
    let new = TaskRecord::new(kind, at.task.parallel.clone(), None);
    report_created(&new, !items.is_empty(), at.code);
    callbacks::dependences(new.data(), items.as_ptr(), items.len() as i32);
    wait();
    callbacks::task_schedule(new.data(), status::TASKWAIT_COMPLETE, null_mut());
}

/// Implements `__kmpc_omp_wait_deps`, before an undeferred task.
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
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe {
        waiting((count, list, more, other), || {
            depend::wait_for(ident, gtid, count, list, more, other)
        });
    }
}

/// Implements `__kmpc_omp_taskwait_deps_51`.
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
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe {
        waiting((count, list, more, other), || {
            depend::taskwait(ident, gtid, count, list, more, other, nowait)
        });
    }
}

/// Implements `__kmpc_omp_task_begin_if0`.
///
/// # Safety
/// As for [`create::begin_undeferred`].
pub unsafe extern "C-unwind" fn begin_undeferred(
    ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) {
    let at = enter_entry(None);
    let frame = at.me.frame.get();
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    let task = unsafe { &*Task::from_payload(payload) };
    let own = record(task).map(|own| {
        own.flags.set(own.flags.get() | flag::UNDEFERRED);
        report_created(own, false, at.code);
        // SAFETY: `attach` holds a reference, so the record is in an `Arc`.
        unsafe { shared(own) }
    });
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { create::begin_undeferred(ident, gtid, payload) };
    if let Some(own) = own {
        let (me, outer) = (at.me, at.task.clone());
        // The creating task stays marked as in the runtime until the end of this one.
        std::mem::forget(at);
        callbacks::task_schedule(outer.data(), status::SWITCH, own.data());
        own.number.set(crate::thread::by_number(gtid).tid());
        own.set_outer(Some(outer));
        own.set_exit(frame);
        me.set_task(Some(own));
    }
}

/// Implements `__kmpc_omp_task_complete_if0`.
///
/// # Safety
/// As for [`create::end_undeferred`].
pub unsafe extern "C-unwind" fn end_undeferred(
    ident: *const Ident,
    gtid: i32,
    payload: *mut Payload,
) {
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    let task = unsafe { &*Task::from_payload(payload) };
    let mut late = false;
    let own = record(task).and_then(|own| {
        // AcqRel: of this and `fulfill` the second one ends the record.
        late = task.completes_later()
            && own.completion.fetch_or(ENDED, Ordering::AcqRel) & FULFILLED == 0;
        if late {
            // SAFETY: `attach` holds a reference, so the record is in an `Arc`.
            Some(unsafe { shared(own) })
        } else {
            release(task)
        }
    });
    if let Some(own) = &own {
        own.set_exit(0);
        let outer = own.outer().cloned();
        if let Some(outer) = outer {
            let stopped = execution::canceled(crate::thread::by_number(gtid), task);
            let said = if late {
                status::DETACH
            } else if stopped {
                status::CANCEL
            } else {
                status::COMPLETE
            };
            callbacks::task_schedule(own.data(), said, outer.data());
            // SAFETY: this thread's own frame, marked by `begin_undeferred`.
            unsafe { (*outer.frame()).enter = 0 };
            record::current().set_task(Some(outer));
        }
        own.set_outer(None);
    }
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { create::end_undeferred(ident, gtid, payload) };
}

/// Implements `omp_fulfill_event`.
///
/// # Safety
/// As for [`event::fulfill`].
pub unsafe extern "C-unwind" fn fulfill(event: usize) {
    let task = std::ptr::with_exposed_provenance_mut::<Task>(event);
    // SAFETY: null, or a task that waits for this fulfillment (caller's contract).
    if let Some(task) = unsafe { task.as_ref() }
        && let Some(own) = record(task)
    {
        // SAFETY: `attach` holds a reference, so the record is in an `Arc`; the second of both ends
        // releases it.
        let own = unsafe { shared(own) };
        if own.completion.fetch_or(FULFILLED, Ordering::AcqRel) & ENDED != 0 {
            callbacks::task_schedule(own.data(), status::LATE_FULFILL, null_mut());
            release(task);
        } else {
            callbacks::task_schedule(own.data(), status::EARLY_FULFILL, null_mut());
        }
    }
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe { event::fulfill(event) };
}

/// Implements `__kmpc_taskloop_5`; the traced entries report its taskgroup.
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
    let at = enter_entry(None);
    let (parallel, task) = at.words();
    // SAFETY: in all of this block, the arguments are those of this entry, whose contract is the
    // same.
    unsafe {
        let trip = taskloop::trip_count(*lower, *upper, step);
        callbacks::work(TASKLOOP, BEGIN, parallel, task, trip, at.code);
        if nogroup == 0 {
            sync::begin_group(ident, gtid);
        }
        if let Some(own) = record(&*Task::from_payload(pattern)) {
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
            let pattern = &*Task::from_payload(pattern);
            record(pattern).map(|own| shared(own))
        };
        taskloop::run_strict(
            ident, gtid, pattern, condition, lower, upper, step, 1, kind, number, strict, copy,
        );
        // The pattern is freed, and nothing else refers to its record.
        if let Some(record) = record {
            Arc::decrement_strong_count(Arc::as_ptr(&record));
        }
        if nogroup == 0 {
            sync::end_group(ident, gtid);
        }
        callbacks::work(TASKLOOP, END, parallel, task, trip, at.code);
    }
}

/// Implements `__kmpc_taskloop`.
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
    // SAFETY: the arguments are those of this entry, whose contract is the same.
    unsafe {
        taskloop_strict(
            ident, gtid, pattern, condition, lower, upper, step, nogroup, kind, number, 0, copy,
        );
    }
}
