//! Wake-ups for offered tasks, one sleeper at a time. README.md, "Sleeping and waking".
//!
//! A woken member looks for tasks and, if it leaves some behind, wakes the next one. Until it has
//! looked, no other member is woken. A member that continues without looking, because its condition
//! became true, reports that ([`Wakeups::decline`]), and another is woken in its place.
//!
//! This file knows neither tasks nor how members sleep. loom checks it.

use crossbeam::utils::CachePadded;

use crate::team::team_core::TeamCore;
use ompvm_support::sync::{AtomicU32, Ordering, fence_after_exchange};

/// Flag that is set while a woken member has not looked for tasks yet.
#[derive(Debug)]
pub struct Wakeups {
    pending: CachePadded<AtomicU32>,
}

impl Default for Wakeups {
    fn default() -> Self {
        Self {
            pending: CachePadded::new(AtomicU32::new(0)),
        }
    }
}

impl Wakeups {
    /// Wakes one sleeping member of those that `fits` accepts, for a task that was offered before
    /// (with a full fence since). Returns false if none sleeps. Also returns true if a member was
    /// woken before that will look for tasks from now on, and see this one.
    ///
    /// # Safety
    /// The caller takes part in the running region of `size` members.
    pub unsafe fn wake_one<L: Default, D>(
        &self,
        core: &TeamCore<L, D>,
        size: u32,
        fits: impl Fn(&L) -> bool,
    ) -> bool {
        // SeqCst, both: before `acknowledge`, or after it.
        if self.pending.load(Ordering::SeqCst) != 0 || self.pending.swap(1, Ordering::SeqCst) != 0 {
            return true;
        }
        // SAFETY: the caller takes part in the region of `size` members (caller's contract).
        if unsafe { core.unpark_one(size, &fits) } {
            return true;
        }
        // Other offering threads may have relied on this wake-up meanwhile; members that fell
        // asleep without seeing the offered tasks are found now.
        self.pending.swap(0, Ordering::SeqCst);
        fence_after_exchange();
        // SAFETY: the caller takes part in the region of `size` members (caller's contract).
        unsafe { core.unpark_one(size, &fits) }
    }

    /// Records that the calling member looks for tasks now. Returns true if a member had been
    /// woken.
    #[inline(always)]
    pub fn acknowledge(&self) -> bool {
        // Relaxed: a woken member has acquired the flag with its wake-up (`Parker::unpark`).
        if self.pending.load(Ordering::Relaxed) == 0 {
            return false;
        }
        // SeqCst: before the look; pairs with `wake_one`.
        self.pending.swap(0, Ordering::SeqCst);
        fence_after_exchange();
        true
    }

    /// Reports that the calling member was woken (as [`Wakeups::acknowledge`] returned) and
    /// continues without looking: wakes another if there are `any` tasks. Returns false if no
    /// member sleeps that `fits` accepts.
    ///
    /// # Safety
    /// As for [`Wakeups::wake_one`].
    #[cold]
    pub unsafe fn decline<L: Default, D>(
        &self,
        core: &TeamCore<L, D>,
        size: u32,
        fits: impl Fn(&L) -> bool,
        any: impl Fn() -> bool,
    ) -> bool {
        if !any() || !core.anyone_sleeps() {
            return true;
        }
        // SAFETY: the caller takes part in the region of `size` members (caller's contract).
        unsafe { self.wake_one(core, size, fits) }
    }

    /// Clears the flag: no task is left in the region.
    pub fn reset(&self) {
        self.pending.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::team::parker::SpinPolicy;
    use crate::waits::Construct;
    use loom::sync::Arc;
    use ompvm_support::sync::{AtomicU64, fence};

    struct Shared {
        core: TeamCore<()>,
        wakeups: Wakeups,
        /// Number of tasks offered and not taken.
        tasks: AtomicU64,
        /// Number of tasks taken.
        taken: AtomicU64,
        /// Condition of a member that does not look for tasks.
        flag: AtomicU64,
    }

    impl Shared {
        fn new(size: u32) -> Arc<Self> {
            let core = TeamCore::new(());
            // SAFETY: no region runs.
            unsafe { core.grow(size as usize) };
            Arc::new(Self {
                core,
                wakeups: Wakeups::default(),
                tasks: AtomicU64::new(0),
                taken: AtomicU64::new(0),
                flag: AtomicU64::new(0),
            })
        }

        fn any(&self) -> bool {
            self.tasks.load(Ordering::Acquire) > 0
        }

        fn take(&self) -> bool {
            let taken = self
                .tasks
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1))
                .is_ok();
            if taken {
                self.taken.fetch_add(1, Ordering::Relaxed);
            }
            taken
        }

        fn offer(&self, size: u32) {
            self.tasks.fetch_add(1, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            if self.core.anyone_sleeps() {
                // SAFETY: the caller is a member.
                unsafe { self.wakeups.wake_one(&self.core, size, |()| true) };
            }
        }

        /// Takes one task, and sleeps until there is one.
        fn take_one(&self, tid: u32) {
            while !self.take() {
                // SAFETY: the member's own number.
                unsafe {
                    self.core.wait_or(
                        tid,
                        SpinPolicy::NONE,
                        Construct::TASKWAIT,
                        || false,
                        || self.any(),
                        || _ = self.wakeups.acknowledge(),
                    );
                }
            }
        }
    }

    fn model() -> loom::model::Builder {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model
    }

    /// The offering thread takes its first task back. The member woken in vain is woken for the
    /// next.
    #[test]
    fn loom_wakes_again_after_a_wakeup_in_vain() {
        model().check(|| {
            let shared = Shared::new(2);
            let member = {
                let shared = shared.clone();
                loom::thread::spawn(move || shared.take_one(1))
            };
            shared.offer(2);
            shared.take();
            shared.offer(2);
            member.join().unwrap();
        });
    }

    /// One member is woken at the moment at which its condition becomes true, and looks for no
    /// task: the other must be woken.
    #[test]
    fn loom_wakes_another_if_one_declines() {
        model().check(|| {
            let shared = Shared::new(3);
            let leaver = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    let flag = || shared.flag.load(Ordering::Acquire) != 0;
                    // SAFETY: the member's own number.
                    let woken = unsafe {
                        shared
                            .core
                            .wait(1, SpinPolicy::NONE, Construct::ORDERED, flag)
                    };
                    if woken && shared.wakeups.acknowledge() {
                        // SAFETY: the caller is a member.
                        unsafe {
                            let (core, any) = (&shared.core, || shared.any());
                            shared.wakeups.decline(core, 3, |()| true, any);
                        }
                    }
                })
            };
            let member = {
                let shared = shared.clone();
                loom::thread::spawn(move || shared.take_one(2))
            };
            shared.flag.store(1, Ordering::Release);
            fence(Ordering::SeqCst);
            // SAFETY: the caller is a member.
            unsafe { shared.core.unpark(1) };
            shared.offer(3);
            leaver.join().unwrap();
            member.join().unwrap();
        });
    }

    /// Two threads offer at once: one that finds a wake-up pending may rely on it, even if that
    /// found no sleeper.
    #[test]
    fn loom_concurrent_wakeups_find_a_late_sleeper() {
        model().check(|| {
            let shared = Shared::new(3);
            let member = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    shared.take_one(1);
                    shared.take_one(1);
                })
            };
            let other = {
                let shared = shared.clone();
                loom::thread::spawn(move || shared.offer(3))
            };
            shared.offer(3);
            other.join().unwrap();
            member.join().unwrap();
            assert_eq!(shared.taken.load(Ordering::Relaxed), 2);
        });
    }
}
