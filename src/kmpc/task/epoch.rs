//! A task epoch: the time between two barriers of a team in which tasks were deferred.
//!
//! This file decides when an epoch begins, when all of its tasks are complete, and when no thread
//! uses the team any more; see README.md, "Barriers". It knows neither tasks nor how members sleep.
//! loom checks it.

use crossbeam::utils::CachePadded;

use ompvm_support::sync::{
    AtomicU32, AtomicU64, Ordering, fence_after_exchange, publish, spin_hint,
};

/// State that the members of a team share for the current epoch.
#[derive(Debug)]
pub struct TaskEpoch {
    /// Number of the barrier that ends the epoch; 0 if no task was deferred since the last one.
    open: CachePadded<AtomicU64>,
    /// Number of events after which the master checks for the last task's completion.
    progress: CachePadded<AtomicU64>,
    /// Number of threads that use the team without being counted in its barriers.
    visitors: CachePadded<AtomicU32>,
}

impl Default for TaskEpoch {
    fn default() -> Self {
        Self {
            open: CachePadded::new(AtomicU64::new(0)),
            progress: CachePadded::new(AtomicU64::new(0)),
            visitors: CachePadded::new(AtomicU32::new(0)),
        }
    }
}

impl TaskEpoch {
    /// Returns the number of the barrier that will end the epoch, 0 if there is none. Relaxed:
    /// waiting members see it eventually; a sleeper is woken after a full fence; a member that has
    /// passed a barrier since the submission received it with the arrivals.
    #[inline(always)]
    pub fn number(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// Begins the epoch that ends with barrier number `barrier`, unless it has begun. Relaxed:
    /// published with the task, and with this member's arrival.
    #[inline(always)]
    pub fn begin(&self, barrier: u64) {
        self.open.store(barrier, Ordering::Relaxed);
    }

    /// Returns true if the epoch with this number has ended. Acquire: all its tasks are complete
    /// then.
    #[inline(always)]
    pub fn ended(&self, barrier: u64) -> bool {
        self.open.load(Ordering::Acquire) != barrier
    }

    /// Ends the epoch, all of whose tasks are complete. Called by the master. The others may
    /// continue (Release); sleepers and visitors are checked after that (full fence).
    pub fn end(&self) {
        publish(&self.open, 0);
    }

    /// Waits until no visitor is left. Called by the master at the end of the region, while no
    /// epoch is open. SeqCst: a visitor that saw the epoch open was counted before; its effects are
    /// visible.
    pub fn await_visitors(&self) {
        let mut turns = 0u32;
        while self.visitors.load(Ordering::SeqCst) != 0 {
            turns += 1;
            if turns.is_multiple_of(64) {
                #[cfg(not(loom))]
                std::thread::yield_now();
            }
            spin_hint();
        }
    }

    /// Begins a visit, during which the region cannot end. Returns true if the epoch with this
    /// number has not ended; if it has, the caller must not access the region. Between the two
    /// words lies a full fence, and in [`TaskEpoch::end`] one in the opposite order: the master
    /// sees the visitor, or the visitor sees the end.
    pub fn try_visit(&self, barrier: u64) -> bool {
        self.begin_visit();
        fence_after_exchange();
        self.open.load(Ordering::SeqCst) == barrier
    }

    /// Begins a visit by a thread that knows that the epoch cannot end yet.
    pub fn begin_visit(&self) {
        self.visitors.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends a visit. Release: the visitor does not access the region afterwards.
    pub fn end_visit(&self) {
        self.visitors.fetch_sub(1, Ordering::Release);
    }

    /// Notifies the master to check if the last task is complete. SeqCst: after this member's
    /// counts, before a check for sleepers.
    pub fn notify(&self) {
        self.progress.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of notifications so far. Acquire: the notifiers' counts are visible.
    pub fn notifications(&self) -> u64 {
        self.progress.load(Ordering::Acquire)
    }
}

/// One member's counts of tasks whose completion the barrier awaits; written only by the member.
#[derive(Debug)]
pub struct Counts {
    created: CachePadded<AtomicU64>,
    finished: AtomicU64,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            created: CachePadded::new(AtomicU64::new(0)),
            finished: AtomicU64::new(0),
        }
    }
}

impl Counts {
    /// Counts a task that the member submits. Relaxed: published with the task.
    #[inline(always)]
    pub fn create(&self) {
        let created = self.created.load(Ordering::Relaxed);
        self.created.store(created + 1, Ordering::Relaxed);
    }

    /// Counts a task that the member completed. Release: a thread that sees the count sees all
    /// effects of the task, above all the tasks that it created.
    #[inline(always)]
    pub fn finish(&self) {
        let finished = self.finished.load(Ordering::Relaxed);
        self.finished.store(finished + 1, Ordering::Release);
    }
}

/// Returns true if all tasks are complete, where `elsewhere` counts those completed by threads that
/// are not members.
///
/// Each completed task that is seen was created before, and so were the tasks that it created
/// (Release of the count, Acquire here). So if as many were created as completed, these are the
/// same tasks, and none is left that could create another.
pub fn quiescent<'a>(
    members: impl Iterator<Item = &'a Counts> + Clone,
    elsewhere: &AtomicU64,
) -> bool {
    let mut finished = elsewhere.load(Ordering::Acquire);
    for member in members.clone() {
        finished = finished.wrapping_add(member.finished.load(Ordering::Acquire));
    }
    let created = members.fold(0u64, |sum, member| {
        sum.wrapping_add(member.created.load(Ordering::Acquire))
    });
    created == finished
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::cell::UnsafeCell as Tracked;
    use loom::sync::Arc;

    #[derive(Default)]
    struct Shared {
        epoch: TaskEpoch,
        counts: [Counts; 2],
        elsewhere: AtomicU64,
        /// 1 if there is a task to execute.
        queue: AtomicU64,
        /// Data that tasks and the region itself write.
        cell: Tracked<u32>,
    }
    // SAFETY: the epoch under test orders the accesses; loom checks that it does.
    unsafe impl Sync for Shared {}
    // SAFETY: no field is bound to a thread.
    unsafe impl Send for Shared {}

    impl Shared {
        fn write(&self) {
            // SAFETY: ordered by the code under test; loom checks it.
            self.cell.with_mut(|p| unsafe { *p += 1 });
        }
    }

    #[test]
    fn loom_epoch_does_not_end_under_a_visitor() {
        loom::model(|| {
            let shared = Arc::new(Shared::default());
            shared.epoch.begin(5);
            let visitor = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    if shared.epoch.try_visit(5) {
                        shared.write();
                    }
                    shared.epoch.end_visit();
                })
            };
            shared.epoch.end();
            shared.epoch.await_visitors();
            shared.write();
            visitor.join().unwrap();
        });
    }

    /// After a barrier the other member submits a task, joins, and helps as a visitor, until the
    /// master, which may still be leaving the barrier, has joined, too, and ended the second epoch.
    #[test]
    fn loom_epoch_of_a_barrier_does_not_wait_for_visitors_of_the_end() {
        loom::model(|| {
            let shared = Arc::new(Shared::default());
            shared.epoch.begin(5);
            let member = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    while !shared.epoch.ended(5) {
                        loom::thread::yield_now();
                    }
                    shared.epoch.begin(6);
                    shared.queue.store(1, Ordering::Release);
                    if shared.epoch.try_visit(6) {
                        shared.write();
                        while !shared.epoch.ended(6) {
                            loom::thread::yield_now();
                        }
                    }
                    shared.epoch.end_visit();
                })
            };
            shared.epoch.end();
            while shared.queue.load(Ordering::Acquire) == 0 {
                loom::thread::yield_now();
            }
            shared.epoch.end();
            shared.epoch.await_visitors();
            shared.write();
            member.join().unwrap();
        });
    }

    /// A member executes a task that creates another, which the master executes; then the epoch is
    /// quiescent.
    #[test]
    fn loom_epoch_is_quiescent_after_the_last_task() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let shared = Arc::new(Shared::default());
            shared.counts[0].create();
            let member = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    shared.write();
                    shared.counts[1].create();
                    shared.queue.store(1, Ordering::Release);
                    shared.counts[1].finish();
                })
            };
            let execute = || {
                let there = shared.queue.load(Ordering::Acquire) == 1;
                if there {
                    shared.write();
                    shared.counts[0].finish();
                }
                there
            };
            let executed = execute();
            if quiescent(shared.counts.iter(), &shared.elsewhere) {
                assert!(executed);
                shared.write();
                member.join().unwrap();
            } else {
                member.join().unwrap();
                assert!(executed || execute());
                assert!(quiescent(shared.counts.iter(), &shared.elsewhere));
            }
        });
    }
}
