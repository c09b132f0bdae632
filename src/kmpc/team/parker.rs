//! The futex on which one thread sleeps, and its spinning before that.
//!
//! A waiter spins on its condition, then sleeps on its own futex word. A waker makes the condition
//! true and then wakes exactly the threads that it knows to be concerned. README.md ("Sleeping")
//! describes the handshake. The parker knows nothing about the condition; the caller describes the wait.

use crate::waits::{self, PossibleWait};
use ompvm_support::processor_sharing::{self, Activity, Entry};
use ompvm_support::sync::{AtomicU32, Futex, Ordering, fence, spin_hint};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

const RUNNING: u32 = 0;
const PARKED: u32 = 1;

/// Spin policy: how a waiter spins before it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpinPolicy {
    /// Number of checks of the condition, with a pause between two, before the clock is first read.
    pub checks: u32,
    /// Microseconds of further spinning, which after a while offers the processor to other threads;
    /// 0 sleeps at once, `u32::MAX` never sleeps.
    pub micros: u32,
    /// True if the processor is offered at once, because there are more threads than processors and
    /// the awaited thread may need this one.
    pub yields: bool,
}

impl SpinPolicy {
    /// Sleeps at once.
    pub const NONE: Self = Self {
        checks: 0,
        micros: 0,
        yields: false,
    };
}

/// The futex on which one thread sleeps.
///
/// | word | meaning | written by |
/// |---|---|---|
/// | 0 | the owner runs (or spins) | the owner; a waker that ends the sleep |
/// | 1 | the owner sleeps or is about to | the owner |
#[derive(Debug)]
pub struct Parker {
    state: Futex,
    /// Activity entry of the owner when it last slept, through which others see that it sleeps.
    entry: AtomicPtr<Entry>,
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Parker {
    /// Creates a parker whose owner runs.
    pub fn new() -> Self {
        Self {
            state: Futex::new(RUNNING),
            entry: AtomicPtr::new(null_mut()),
        }
    }

    /// Waits until `done` returns true. Only the owner may call this.
    ///
    /// `sleepers` counts the threads of the group that sleep or are about to, so that a waker need
    /// not look at each parker if it is zero.
    ///
    /// Memory order: `done` must load its condition with Acquire. The announcement (PARKED and
    /// `sleepers`) is followed by a SeqCst fence and a second check of the condition. A waker
    /// publishes the condition with [`publish`](ompvm_support::sync::publish) and then reads
    /// `sleepers`. So either the waker sees the announcement or the waiter sees the condition.
    ///
    /// Returns true if the owner was woken, possibly for another reason. That has Acquire
    /// semantics: earlier writes of the waker are visible.
    ///
    /// `wait` describes the wait ([`waits`]) if it becomes long.
    #[inline]
    pub fn wait_until(
        &self,
        sleepers: &AtomicU32,
        spin_policy: SpinPolicy,
        wait: PossibleWait,
        done: impl Fn() -> bool,
    ) -> bool {
        if done() {
            return false;
        }
        for _ in 0..spin_policy.checks {
            spin_hint();
            if done() {
                return false;
            }
        }
        self.wait_slowly(sleepers, spin_policy, wait, &done, &done, &|| ())
    }

    /// Like [`Parker::wait_until`], for an expensive condition: `glance` is checked while spinning
    /// and may miss that the wait is over, `done` decides about sleeping. `woken` is called after
    /// each wake-up, before `done` is checked again.
    pub fn wait_until_or(
        &self,
        sleepers: &AtomicU32,
        spin_policy: SpinPolicy,
        wait: PossibleWait,
        glance: impl Fn() -> bool,
        done: impl Fn() -> bool,
        woken: impl Fn(),
    ) -> bool {
        for _ in 0..spin_policy.checks {
            if glance() {
                return false;
            }
            spin_hint();
        }
        self.wait_slowly(sleepers, spin_policy, wait, &glance, &done, &woken)
    }

    #[cold]
    fn wait_slowly(
        &self,
        sleepers: &AtomicU32,
        spin_policy: SpinPolicy,
        wait: PossibleWait,
        glance: &dyn Fn() -> bool,
        done: &dyn Fn() -> bool,
        woken: &dyn Fn(),
    ) -> bool {
        let _waiting = waits::begin(wait.into(), spin_policy.micros == u32::MAX);
        if spin_for(spin_policy, glance) {
            return false;
        }
        let entry = processor_sharing::own_entry();
        let known = entry.map_or(null_mut(), |p| std::ptr::from_ref(p).cast_mut());
        self.entry.store(known, Relaxed);
        processor_sharing::set_activity(entry, Activity::Asleep);
        let word = self.state.word();
        let mut was_woken = false;
        sleepers.fetch_add(1, Ordering::Relaxed);
        // Relaxed: a thread is only woken after it has announced itself.
        word.store(PARKED, Ordering::Relaxed);
        loop {
            fence(Ordering::SeqCst);
            if done() {
                break;
            }
            self.state.wait(PARKED);
            // An exchange, so that no wake-up is missed: a thread that was woken for a task may
            // have to report that it does not look for it. Acquire: pairs with the Release of
            // `unpark`.
            if word.swap(PARKED, Ordering::Acquire) == RUNNING {
                was_woken = true;
                woken();
            }
        }
        if word.swap(RUNNING, Ordering::Acquire) == RUNNING {
            was_woken = true;
            woken();
        }
        sleepers.fetch_sub(1, Ordering::Relaxed);
        processor_sharing::set_activity(entry, Activity::Working);
        was_woken
    }

    /// Wakes the owner if it sleeps, and returns true if it did. The caller has made the owner's
    /// condition true and executed a full fence since ([`publish`](ompvm_support::sync::publish)
    /// does both).
    #[inline]
    pub fn unpark(&self) -> bool {
        let word = self.state.word();
        // Release: the woken thread sees the waker's earlier writes.
        let slept = word.load(Ordering::Relaxed) == PARKED
            && word
                .compare_exchange(PARKED, RUNNING, Ordering::Release, Ordering::Relaxed)
                .is_ok();
        if slept {
            // SAFETY: null, or a pointer to an activity entry, all of which are static.
            let entry = unsafe { self.entry.load(Relaxed).as_ref() };
            // The owner needs a processor from now on, although it may not have one yet.
            processor_sharing::set_activity(entry, Activity::Working);
            self.state.wake_one();
        }
        slept
    }
}

/// Microseconds of spinning before the processor is offered to others. A waiter that yields at once
/// loses its processor for a time slice at every barrier if another process wants it, and the whole
/// team waits for it.
#[cfg(not(loom))]
const YIELD_AFTER_MICROS: u128 = 200;

#[cfg(not(loom))]
fn spin_for(spin_policy: SpinPolicy, done: &dyn Fn() -> bool) -> bool {
    if spin_policy.micros == 0 {
        return false;
    }
    let start = std::time::Instant::now();
    // Microseconds of spinning at which to check next if another thread needs the processor;
    // doubles.
    let mut look = 0;
    loop {
        if spin_policy.yields {
            // The awaited thread may need this processor, so neither pause nor read the clock
            // between two yields.
            for _ in 0..8 {
                std::thread::yield_now();
                if done() {
                    return true;
                }
            }
        } else {
            for _ in 0..256 {
                spin_hint();
                if done() {
                    return true;
                }
            }
        }
        let spun = start.elapsed().as_micros();
        if spun >= look && !spin_policy.yields {
            look = 2 * spun;
            match processor_sharing::leave_shared_processor() {
                true if spin_policy.micros != u32::MAX => return false,
                true => std::thread::yield_now(),
                false => {}
            }
        }
        if spin_policy.micros != u32::MAX && spun >= u128::from(spin_policy.micros) {
            return false;
        }
        if spun >= YIELD_AFTER_MICROS && !spin_policy.yields {
            std::thread::yield_now();
        }
    }
}

#[cfg(loom)]
fn spin_for(_spin_policy: SpinPolicy, _done: &dyn Fn() -> bool) -> bool {
    false
}
