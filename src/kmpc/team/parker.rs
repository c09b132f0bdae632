//! One thread's place to sleep, and how long it spins before it does.
//!
//! A waiter spins on its condition, then sleeps on its own futex word; a waker makes the
//! condition true and then wakes exactly the threads it knows to be concerned. The handshake is
//! described in README.md ("Sleeping"). The parker does not know what is waited for.

use crate::support::sharing::{self, Activity, Place};
use crate::support::sync::{AtomicU32, Futex, Ordering, fence, spin_hint};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

const RUNNING: u32 = 0;
const PARKED: u32 = 1;

/// How long a waiter spins before it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Checks of the condition with a pause between, before the clock is first read.
    pub checks: u32,
    /// After those: microseconds to go on spinning, after a while offering the processor to others; 0 sleeps at once, `u32::MAX` never sleeps.
    pub micros: u32,
    /// The processor is offered at once: there are more threads than processors, and who is waited
    /// for may need this one.
    pub yields: bool,
}

impl Patience {
    /// Sleeps at once.
    pub const NONE: Self = Self {
        checks: 0,
        micros: 0,
        yields: false,
    };
}

/// One thread's sleeping place.
///
/// | word | meaning | who writes it |
/// |---|---|---|
/// | 0 | the owner runs (or spins) | the owner; a waker that ends the sleep |
/// | 1 | the owner sleeps or is about to | the owner |
#[derive(Debug)]
pub struct Parker {
    state: Futex,
    /// Where others see whether the owner sleeps; what it was when it did last.
    place: AtomicPtr<Place>,
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Parker {
    /// A parker whose owner runs.
    pub fn new() -> Self {
        Self {
            state: Futex::new(RUNNING),
            place: AtomicPtr::new(null_mut()),
        }
    }

    /// Waits until `done` returns true. Only the owner may call this.
    ///
    /// `sleepers` counts the threads of the group that sleep or are about to, so that a waker
    /// can skip looking at each parker when it is zero.
    ///
    /// Memory order: `done` must load its condition with Acquire. The announcement (PARKED and
    /// `sleepers`) is followed by a SeqCst fence and a second look at the condition; a waker
    /// publishes the condition with [`publish`](crate::support::sync::publish) and then reads
    /// `sleepers`. So either the waker sees the announcement or the waiter sees the condition.
    ///
    /// True if somebody woke it, perhaps for another reason. Acquire then: what the waker wrote
    /// before is visible.
    #[inline]
    pub fn wait_until(
        &self,
        sleepers: &AtomicU32,
        patience: Patience,
        done: impl Fn() -> bool,
    ) -> bool {
        if done() {
            return false;
        }
        for _ in 0..patience.checks {
            spin_hint();
            if done() {
                return false;
            }
        }
        self.wait_slowly(sleepers, patience, &done, &done, &|| ())
    }

    /// As [`Parker::wait_until`] where the question is a dear one: `glance` may miss that it is
    /// time to go on and is asked while spinning, `done` decides whether to sleep. `woken` is called
    /// whenever somebody woke the owner, before it asks again.
    pub fn wait_until_or(
        &self,
        sleepers: &AtomicU32,
        patience: Patience,
        glance: impl Fn() -> bool,
        done: impl Fn() -> bool,
        woken: impl Fn(),
    ) -> bool {
        for _ in 0..patience.checks {
            if glance() {
                return false;
            }
            spin_hint();
        }
        self.wait_slowly(sleepers, patience, &glance, &done, &woken)
    }

    #[cold]
    fn wait_slowly(
        &self,
        sleepers: &AtomicU32,
        patience: Patience,
        glance: &dyn Fn() -> bool,
        done: &dyn Fn() -> bool,
        woken: &dyn Fn(),
    ) -> bool {
        if spin_for(patience, glance) {
            return false;
        }
        let place = sharing::place();
        let known = place.map_or(null_mut(), |p| std::ptr::from_ref(p).cast_mut());
        self.place.store(known, Relaxed);
        sharing::set(place, Activity::Asleep);
        let word = self.state.word();
        let mut called = false;
        sleepers.fetch_add(1, Ordering::Relaxed);
        // Relaxed: nobody wakes who has not announced itself.
        word.store(PARKED, Ordering::Relaxed);
        loop {
            fence(Ordering::SeqCst);
            if done() {
                break;
            }
            self.state.wait(PARKED);
            // An exchange, so that no wake-up is missed: who is woken for a task may have to say
            // that it does not look for it. Acquire: pairs with the Release of `unpark`.
            if word.swap(PARKED, Ordering::Acquire) == RUNNING {
                called = true;
                woken();
            }
        }
        if word.swap(RUNNING, Ordering::Acquire) == RUNNING {
            called = true;
            woken();
        }
        sleepers.fetch_sub(1, Ordering::Relaxed);
        sharing::set(place, Activity::Working);
        called
    }

    /// Wakes the owner if it sleeps; whether it did. The caller has made the owner's condition true
    /// and executed a full fence since ([`publish`](crate::support::sync::publish) does both).
    #[inline]
    pub fn unpark(&self) -> bool {
        let word = self.state.word();
        // Release: who is woken sees why.
        let slept = word.load(Ordering::Relaxed) == PARKED
            && word
                .compare_exchange(PARKED, RUNNING, Ordering::Release, Ordering::Relaxed)
                .is_ok();
        if slept {
            // SAFETY: null, or one of the places, which are static.
            let place = unsafe { self.place.load(Relaxed).as_ref() };
            // It needs a processor from now on, though it may not have one yet.
            sharing::set(place, Activity::Working);
            self.state.wake_one();
        }
        slept
    }
}

/// Microseconds of spinning before the processor is offered to others. Offered at once, it would be
/// lost for a time slice at every barrier where another thread wants it, and a whole team would wait:
/// a nice thread beside one member of sixteen cost CG of the NAS benchmarks four fifths of its speed.
#[cfg(not(loom))]
const SELFISH: u128 = 200;

#[cfg(not(loom))]
fn spin_for(patience: Patience, done: &dyn Fn() -> bool) -> bool {
    if patience.micros == 0 {
        return false;
    }
    let start = std::time::Instant::now();
    // When to look next whether another needs the processor: soon, then less and less often.
    let mut look = 0;
    loop {
        if patience.yields {
            // Who is waited for may need this processor: a pause between two looks is lost, and so is
            // one to ask for the time.
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
        if spun >= look && !patience.yields {
            look = 2 * spun;
            match sharing::relieve() {
                true if patience.micros != u32::MAX => return false,
                true => std::thread::yield_now(),
                false => {}
            }
        }
        if patience.micros != u32::MAX && spun >= u128::from(patience.micros) {
            return false;
        }
        if spun >= SELFISH && !patience.yields {
            std::thread::yield_now();
        }
    }
}

#[cfg(loom)]
fn spin_for(_patience: Patience, _done: &dyn Fn() -> bool) -> bool {
    false
}
