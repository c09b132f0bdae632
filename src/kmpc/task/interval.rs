//! The time between two meetings of a team in which tasks were submitted: when it begins, when all of
//! its tasks are complete, and when nobody uses the team any more. README.md, "Meetings".
//!
//! It does not know what a task is, nor how members sleep. loom checks it.

use crossbeam::utils::CachePadded;

use crate::support::sync::{
    AtomicU32, AtomicU64, Ordering, fence_after_exchange, publish, spin_hint,
};

/// What the members of a team share for it.
#[derive(Debug)]
pub struct Interval {
    /// The number of the meeting that ends it; 0 where no task was submitted since the last one.
    open: CachePadded<AtomicU64>,
    /// Counts events that the master looks for when it waits for the last task.
    pulse: CachePadded<AtomicU64>,
    /// Those who use the team without being counted in its meetings.
    visitors: CachePadded<AtomicU32>,
}

impl Default for Interval {
    fn default() -> Self {
        Self {
            open: CachePadded::new(AtomicU64::new(0)),
            pulse: CachePadded::new(AtomicU64::new(0)),
            visitors: CachePadded::new(AtomicU32::new(0)),
        }
    }
}

impl Interval {
    /// The number of the meeting that will end it, 0 where there is none. Relaxed: members that
    /// wait see it at some time; who sleeps is woken after a full fence; who has met the others since
    /// the submission has it from their arrivals.
    #[inline(always)]
    pub fn number(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// Begins it, unless it has begun: tasks are submitted, before the meeting with this number.
    /// Relaxed: published with the task, and with our arrival.
    #[inline(always)]
    pub fn begin(&self, meeting: u64) {
        self.open.store(meeting, Ordering::Relaxed);
    }

    /// Whether it has ended, for who knows its number. Acquire: all its tasks are complete then.
    #[inline(always)]
    pub fn over(&self, meeting: u64) -> bool {
        self.open.load(Ordering::Acquire) != meeting
    }

    /// The master ends it, all tasks being complete. The others may go on (Release); sleepers and
    /// visitors are looked at after that (full fence).
    pub fn end(&self) {
        publish(&self.open, 0);
    }

    /// The master, at the region's end and with no interval begun, waits until nobody is on a visit. SeqCst: a visitor that saw the interval open has
    /// been counted before; what it did is visible.
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

    /// Begins a visit: until its end the region cannot. True if the interval with this number has
    /// not ended; if it has, nothing of the region may be touched. A full fence between the two
    /// words, and in [`Interval::end`] the other way round: the master sees us, or we see the end.
    pub fn visit(&self, meeting: u64) -> bool {
        self.come();
        fence_after_exchange();
        self.open.load(Ordering::SeqCst) == meeting
    }

    /// Begins a visit of one who knows that the interval cannot end yet.
    pub fn come(&self) {
        self.visitors.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends a visit. Release: nothing of the region is touched from here on.
    pub fn go(&self) {
        self.visitors.fetch_sub(1, Ordering::Release);
    }

    /// Tells the master to look whether the last task is complete. SeqCst: after our counts, before a
    /// look at the sleepers.
    pub fn beat(&self) {
        self.pulse.fetch_add(1, Ordering::SeqCst);
    }

    /// What has been told so far. Acquire: the counts of who told are visible.
    pub fn beats(&self) -> u64 {
        self.pulse.load(Ordering::Acquire)
    }
}

/// One member's counts of tasks whose completion the meeting waits for; only the member writes them.
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
    /// The member submits a task. Relaxed: published with the task.
    #[inline(always)]
    pub fn create(&self) {
        let created = self.created.load(Ordering::Relaxed);
        self.created.store(created + 1, Ordering::Relaxed);
    }

    /// The member completed one. Release: who sees the count sees all that was done, above all what
    /// was created.
    #[inline(always)]
    pub fn finish(&self) {
        let finished = self.finished.load(Ordering::Relaxed);
        self.finished.store(finished + 1, Ordering::Release);
    }
}

/// Whether all tasks are complete, `elsewhere` having been completed by others than members.
///
/// Each completed task that is seen was created before, and so were those it created (Release of
/// the count, Acquire here); so if there are as many created as completed ones, these are the same,
/// and none is left that could create another.
pub fn quiet<'a>(members: impl Iterator<Item = &'a Counts> + Clone, elsewhere: &AtomicU64) -> bool {
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
        interval: Interval,
        counts: [Counts; 2],
        elsewhere: AtomicU64,
        /// A task to be executed: 1 where there is one.
        queue: AtomicU64,
        /// What tasks write, and the region's own data.
        cell: Tracked<u32>,
    }
    // SAFETY: the interval under test orders the accesses; loom checks that it does.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}

    impl Shared {
        fn write(&self) {
            // SAFETY: ordered by what is tested; loom checks it.
            self.cell.with_mut(|p| unsafe { *p += 1 });
        }
    }

    #[test]
    fn loom_interval_does_not_end_under_a_visitor() {
        loom::model(|| {
            let shared = Arc::new(Shared::default());
            shared.interval.begin(5);
            let visitor = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    if shared.interval.visit(5) {
                        shared.write();
                    }
                    shared.interval.go();
                })
            };
            shared.interval.end();
            shared.interval.await_visitors();
            shared.write();
            visitor.join().unwrap();
        });
    }

    /// After a barrier the other member submits a task, joins, and helps as a visitor until the master,
    /// which may still be leaving the barrier, has come, too, and ended the second interval.
    #[test]
    fn loom_interval_of_a_barrier_does_not_wait_for_visitors_of_the_end() {
        loom::model(|| {
            let shared = Arc::new(Shared::default());
            shared.interval.begin(5);
            let member = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    while !shared.interval.over(5) {
                        loom::thread::yield_now();
                    }
                    shared.interval.begin(6);
                    shared.queue.store(1, Ordering::Release);
                    if shared.interval.visit(6) {
                        shared.write();
                        while !shared.interval.over(6) {
                            loom::thread::yield_now();
                        }
                    }
                    shared.interval.go();
                })
            };
            shared.interval.end();
            while shared.queue.load(Ordering::Acquire) == 0 {
                loom::thread::yield_now();
            }
            shared.interval.end();
            shared.interval.await_visitors();
            shared.write();
            member.join().unwrap();
        });
    }

    /// A member executes a task that creates another, which the master executes; then it is quiet.
    #[test]
    fn loom_interval_is_quiet_after_the_last_task() {
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
            if quiet(shared.counts.iter(), &shared.elsewhere) {
                assert!(executed);
                shared.write();
                member.join().unwrap();
            } else {
                member.join().unwrap();
                assert!(executed || execute());
                assert!(quiet(shared.counts.iter(), &shared.elsewhere));
            }
        });
    }
}
