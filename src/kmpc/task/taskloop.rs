//! `taskloop`: iterations divided among tasks. OpenMP 5.2, section 12.6.
//!
//! The compiler passes a task as a pattern. Each chunk of iterations gets a copy of it, and the
//! pattern itself is never executed. The encountering thread creates the chunks one after the
//! other, and the other threads steal them.

use super::create::{adopt, alloc, current, execute_or_offer};
use super::wait::{begin_group, end_group};
use super::{Payload, Task, execution, flag};
use crate::ident::Ident;
use crate::thread::{Thread, by_number};

/// The compiler's routine that copies the parts of the pattern that need copying by their type;
/// `last` is 1 if the copy has the last iteration.
pub type Copy =
    Option<unsafe extern "C-unwind" fn(to: *mut Payload, from: *mut Payload, last: i32)>;

/// Clauses that give the number of tasks.
mod sched {
    pub const GRAINSIZE: i32 = 1;
    pub const NUM_TASKS: i32 = 2;
}

/// Tasks per thread if no clause says how many.
const TASKS_PER_THREAD: u64 = 10;

/// Number of tasks, and of iterations of each: the first `extra` have one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Division {
    tasks: u64,
    each: u64,
    extra: u64,
}

/// Divides `trip` iterations, at least one, as the clause with `number` says. With a strict grain
/// size all tasks but the last have that size.
fn divide(trip: u64, kind: i32, number: u64, strict: bool, threads: u64) -> Division {
    let number = number.max(1);
    let tasks = match kind {
        sched::GRAINSIZE if strict => {
            return Division {
                tasks: trip.div_ceil(number),
                each: number.min(trip),
                extra: 0,
            };
        }
        sched::GRAINSIZE => (trip / number).max(1),
        sched::NUM_TASKS => number.min(trip),
        _ => threads.saturating_mul(TASKS_PER_THREAD).min(trip),
    };
    Division {
        tasks,
        each: trip / tasks,
        extra: trip % tasks,
    }
}

/// Returns the number of iterations of a loop from `lower` to `upper`, both included.
pub fn trip_count(lower: u64, upper: u64, step: i64) -> u64 {
    match step {
        1 => upper.wrapping_sub(lower).wrapping_add(1),
        s if s < 0 => lower.wrapping_sub(upper) / s.unsigned_abs() + 1,
        s => upper.wrapping_sub(lower) / s.unsigned_abs().max(1) + 1,
    }
}

/// Executes a `taskloop`, as compilers before OpenMP 5.1 call it.
///
/// # Safety
/// As for [`run_strict`].
pub unsafe extern "C-unwind" fn run(
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
    copy: Copy,
) {
    // SAFETY: the contract is that of `run_strict`.
    unsafe {
        run_strict(
            ident, gtid, pattern, condition, lower, upper, step, nogroup, kind, number, 0, copy,
        );
    }
}

/// Executes a `taskloop`.
///
/// # Safety
/// [`alloc`] returned `pattern`, which is not submitted; `lower` and `upper` lie in it.
pub unsafe extern "C-unwind" fn run_strict(
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
    copy: Copy,
) {
    let thread = by_number(gtid);
    // SAFETY: in all of this function, the pattern is a payload that is not submitted, the bounds
    // lie in it and at the same offsets in its copies (caller's contract).
    unsafe {
        if nogroup == 0 {
            begin_group(ident, gtid);
        }
        let first = lower.read();
        let trip = trip_count(first, upper.read(), step);
        if trip > 0 {
            let threads = u64::from(thread.team().size());
            let division = divide(trip, kind, number, strict != 0, threads);
            let bounds = (
                lower.byte_offset_from(pattern),
                upper.byte_offset_from(pattern),
            );
            let mut done = 0;
            for chunk in 0..division.tasks {
                let share = division.each + u64::from(chunk < division.extra);
                let share = share.min(trip - done);
                let task = duplicate(thread, ident, pattern);
                let at = |iteration: u64| first.wrapping_add(iteration.wrapping_mul(step as u64));
                let payload = (*task).payload.get();
                payload.byte_offset(bounds.0).cast::<u64>().write(at(done));
                done += share;
                payload
                    .byte_offset(bounds.1)
                    .cast::<u64>()
                    .write(at(done - 1));
                if let Some(copy) = copy {
                    copy(payload, pattern, (done == trip).into());
                }
                adopt(thread, task);
                if condition != 0 {
                    execute_or_offer(thread, task);
                } else {
                    execution::execute(thread, task);
                }
            }
        }
        discard(thread, Task::from_payload(pattern));
        if nogroup == 0 {
            end_group(ident, gtid);
        }
    }
}

/// Returns a copy of a task that was not submitted.
///
/// # Safety
/// [`alloc`] returned `pattern`, which is not submitted.
unsafe fn duplicate(thread: &Thread, ident: *const Ident, pattern: *mut Payload) -> *mut Task {
    // SAFETY: the pattern is a live payload of `size` bytes (caller's contract), and so is the
    // copy.
    unsafe {
        let old = &*Task::from_payload(pattern);
        let flags = (old.flags.get() & flag::COMPILERS) as i32;
        let size = old.bytes.get();
        let payload = alloc(ident, thread.gtid, flags, size, 0, (*pattern).routine);
        pattern
            .cast::<u8>()
            .copy_to_nonoverlapping(payload.cast(), size);
        if !(*pattern).shareds.is_null() {
            let at = (*pattern).shareds.byte_offset_from(pattern);
            (*payload).shareds = payload.byte_offset(at).cast();
        }
        if crate::ompt::on() {
            crate::ompt::duplicated(old, &*Task::from_payload(payload));
        }
        Task::from_payload(payload)
    }
}

/// Destroys a task without executing it.
///
/// # Safety
/// The task was not submitted.
unsafe fn discard(thread: &Thread, task: *mut Task) {
    // SAFETY: the task was not submitted (caller's contract), so no other thread knows it and it
    // has no children.
    unsafe {
        debug_assert!(!current(thread).is_null());
        execution::destroy(thread, &*task);
        thread.pool().put(task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kmpc_taskloop_divides() {
        let of = |tasks, each, extra| Division { tasks, each, extra };
        assert_eq!(divide(100, 0, 0, false, 2), of(20, 5, 0));
        assert_eq!(divide(5, 0, 0, false, 2), of(5, 1, 0));
        assert_eq!(divide(100, sched::NUM_TASKS, 7, false, 2), of(7, 14, 2));
        assert_eq!(divide(3, sched::NUM_TASKS, 7, true, 2), of(3, 1, 0));
        assert_eq!(divide(100, sched::GRAINSIZE, 30, false, 2), of(3, 33, 1));
        assert_eq!(divide(100, sched::GRAINSIZE, 30, true, 2), of(4, 30, 0));
        assert_eq!(divide(10, sched::GRAINSIZE, 30, true, 2), of(1, 10, 0));
        assert_eq!(divide(10, sched::GRAINSIZE, 30, false, 2), of(1, 10, 0));
        assert_eq!(trip_count(0, u64::MAX, 1), 0);
        assert_eq!(trip_count(10, 1, -3), 4);
        assert_eq!(trip_count(1, 10, 3), 4);
    }
}
