//! Queue of the threads that wait for one lock: first come, first served.
//!
//! The thread that releases a lock hands it to the waiter that has waited longest, and the lock is
//! never free in between. So a thread that releases a lock and acquires it again at once comes
//! last, as with libomp's default locks. Programs depend on it: a barrier made of locks hangs if a
//! running thread can overtake a waiting one.
//!
//! A lock is one 32-bit word, zero if it is free. Each thread has one [`Waiter`] with a cache line
//! of its own, on which it spins or sleeps. Arriving waiters are linked from the newest to the
//! oldest. The holder, and only the holder, reads and writes the links in the opposite direction:
//! from the newest waiter to the first one that knows the oldest, so each waiter is visited once.
//!
//! | bits of the word | meaning |
//! |---|---|
//! | 0 to 14 | the holder, by a number that the caller chooses for each thread; never zero |
//! | 15 | a waiter may sleep |
//! | 16 to 30 | the number plus one of the newest waiter; zero is none |
//! | 31 | the newest waiter is the only one |
//!
//! A hand-over is one exchange on the word and one store to the waiter's line, for which the holder
//! does not wait. A waiter that goes to sleep sets bit 15 of the word first, unless the word
//! already names it as the holder. So one of the two sees the other.
//!
//! The spinning of a waiter is left to the caller ([`lock`](super::lock)).

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use ompvm_support::sync::{AtomicU32, Futex, Ordering, spin_hint};

/// The bits of a lock's word that name the holder.
pub const HOLDER: u32 = 0x7fff;
const SLEEPERS: u32 = 1 << 15;
const NEWEST: u32 = 16;
const ALONE: u32 = 1 << 31;

/// Returns the number plus one of the newest waiter; 0 if there is none.
fn newest(word: u32) -> u32 {
    (word & !ALONE) >> NEWEST
}

/// Yields the processor to another thread.
fn offer() {
    #[cfg(not(loom))]
    std::thread::yield_now();
}

/// True in a child of `fork` that may inherit queues with threads that do not exist in it: a
/// property of the process.
static INHERITED: AtomicBool = AtomicBool::new(false);

/// The waiter holds the lock, or waits for none.
const GRANTED: u32 = 0;
const WAITING: u32 = 1;
const ASLEEP: u32 = 2;
/// The waiter's thread does not exist in this child of `fork`.
const GONE: u32 = 3;

/// Entry of a thread in a queue. Links are numbers plus one; zero is none.
#[derive(Debug)]
#[repr(align(64))]
pub struct Waiter {
    state: Futex,
    /// The waiter that arrived before: written by the owner before it joins the queue.
    older: AtomicU32,
    /// The waiter that arrived after; accessed by the holder.
    newer: AtomicU32,
    /// The oldest of the queue, if this waiter was the newest at the last hand-over; accessed by
    /// the holder.
    oldest: AtomicU32,
}

impl Waiter {
    /// Creates a waiter in no queue.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self {
            state: Futex::new(GRANTED),
            older: AtomicU32::new(0),
            newer: AtomicU32::new(0),
            oldest: AtomicU32::new(0),
        }
    }

    /// Waits until the lock in `word` is handed over, which names `holder` then. `look` calls its
    /// argument until that returns true, or returns false when the waiter should sleep. Acquire;
    /// pairs with the Release of [`Waiter::grant`].
    pub fn wait(
        &self,
        word: &AtomicU32,
        holder: u32,
        look: impl FnOnce(&dyn Fn() -> bool) -> bool,
    ) {
        let state = self.state.word();
        let granted = || state.load(Ordering::Acquire) == GRANTED;
        if look(&granted) {
            return;
        }
        let mut seen = word.load(Ordering::Relaxed);
        while seen & SLEEPERS == 0 {
            if seen & HOLDER == holder || granted() {
                // The store to this waiter is under way.
                while !granted() {
                    spin_hint();
                }
                return;
            }
            let marked = seen | SLEEPERS;
            match word.compare_exchange(seen, marked, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        let asleep = state.compare_exchange(WAITING, ASLEEP, Ordering::Relaxed, Ordering::Acquire);
        if asleep.is_ok() {
            while !granted() {
                self.state.wait(ASLEEP);
            }
            // The kernel may have taken the processor from the thread that handed over and given it
            // to this one. That thread continues first, as it would if this one had not slept: it
            // may be about to wait for another lock that this thread releases next.
            offer();
        }
    }

    /// Hands the lock to the waiter. `sleeps` is true if it may sleep.
    fn grant(&self, sleeps: bool) {
        let state = self.state.word();
        if !sleeps {
            state.store(GRANTED, Ordering::Release);
        } else if state.swap(GRANTED, Ordering::Release) == ASLEEP {
            self.state.wake_one();
        }
    }

    /// Marks a waiter whose thread does not exist in this child of `fork`, so that hand-overs skip
    /// it. Returns true if it waits, so that its number must not be reused.
    pub fn abandon(&self) -> bool {
        let word = self.state.word();
        let waits = word.load(Ordering::Relaxed) != GRANTED;
        if waits {
            word.store(GONE, Ordering::Relaxed);
            INHERITED.store(true, Relaxed);
        }
        waits
    }
}
/// Acquires the lock in `word` for `holder` if it is free, or joins its queue as number `me`.
/// Returns true if it was acquired.
///
/// `table` has the waiters of all threads, by number; number `me` is the caller's own and in no
/// queue.
pub fn take_or_join(table: &[Waiter], word: &AtomicU32, me: u32, holder: u32) -> bool {
    let waiter = &table[me as usize];
    waiter.state.word().store(WAITING, Ordering::Relaxed);
    waiter.oldest.store(0, Ordering::Relaxed);
    let mut seen = word.load(Ordering::Relaxed);
    loop {
        let older = newest(seen);
        let next = if seen == 0 {
            holder
        } else {
            waiter.older.store(older, Ordering::Relaxed);
            let alone = if older == 0 { ALONE } else { 0 };
            seen & (HOLDER | SLEEPERS) | (me + 1) << NEWEST | alone
        };
        // Release: the holder reads this waiter's writes. Acquire: pairs with the Release that
        // freed the lock.
        match word.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(0) => {
                waiter.state.word().store(GRANTED, Ordering::Relaxed);
                return true;
            }
            Ok(_) => return false,
            Err(now) => seen = now,
        }
    }
}

/// Releases the lock in `word`, which the caller holds, to the oldest waiter; frees it if there is
/// none. `holder` maps a thread number to its value as holder.
pub fn hand_over(table: &[Waiter], word: &AtomicU32, holder: impl Fn(u32) -> u32) {
    let at = |link: u32| &table[link as usize - 1];
    // Acquire, here and when an exchange fails: pairs with the Release of all that joined the
    // queue.
    let mut seen = word.load(Ordering::Acquire);
    loop {
        let newest = newest(seen);
        let oldest = match newest {
            0 => 0,
            only if seen & ALONE != 0 => only,
            _ => oldest(table, newest),
        };
        let second = match oldest {
            0 => 0,
            last if last == newest => 0,
            _ => at(oldest).newer.load(Ordering::Relaxed),
        };
        let next = match (oldest, second) {
            (0, _) => 0,
            (_, 0) => holder(oldest - 1),
            _ => {
                let alone = if second == newest { ALONE } else { 0 };
                seen & SLEEPERS | newest << NEWEST | alone | holder(oldest - 1)
            }
        };
        // Release: the next holder sees all writes under the lock.
        if let Err(now) = word.compare_exchange(seen, next, Ordering::Release, Ordering::Acquire) {
            seen = now;
            continue;
        }
        if oldest == 0 {
            return;
        }
        if second != 0 {
            at(newest).oldest.store(second, Ordering::Relaxed);
        }
        let waiter = at(oldest);
        if INHERITED.load(Relaxed) && waiter.state.word().load(Ordering::Relaxed) == GONE {
            seen = word.load(Ordering::Acquire);
            continue;
        }
        waiter.grant(seen & SLEEPERS != 0);
        return;
    }
}

/// Returns the oldest waiter of the queue whose newest one is `newest`, and links all visited ones
/// toward the newest.
fn oldest(table: &[Waiter], newest: u32) -> u32 {
    let at = |link: u32| &table[link as usize - 1];
    let mut link = newest;
    loop {
        let known = at(link).oldest.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let older = at(link).older.load(Ordering::Relaxed);
        if older == 0 {
            return link;
        }
        at(older).newer.store(link, Ordering::Relaxed);
        link = older;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn table(count: usize) -> Vec<Waiter> {
        (0..count).map(|_| Waiter::new()).collect()
    }

    fn granted(waiter: &Waiter) -> bool {
        waiter.state.word().load(Ordering::Relaxed) == GRANTED
    }

    #[test]
    fn kmpc_lock_queue_serves_in_the_order_of_arrival() {
        // Arrivals (letters) and hand-overs (dots) in turn; a repeated letter is a thread that
        // arrives again.
        for script in [
            "a.",
            "abc...",
            "a.b.c.",
            "ab.c.d..",
            "ab.a.b.a..",
            "abcd.e.f.a....",
            "ab..ab..abc.d..ab...",
        ] {
            let table = table(7);
            let word = AtomicU32::new(0);
            assert!(take_or_join(&table, &word, 6, 7));
            let mut expected = std::collections::VecDeque::new();
            for step in script.bytes() {
                if step == b'.' {
                    let next = expected.pop_front().unwrap();
                    assert!(!granted(&table[next as usize]), "{script}");
                    hand_over(&table, &word, |n| n + 1);
                    assert!(granted(&table[next as usize]), "{script}");
                    assert_eq!(word.load(Ordering::Relaxed) & HOLDER, next + 1, "{script}");
                } else {
                    let number = u32::from(step - b'a');
                    assert!(!take_or_join(&table, &word, number, number + 1));
                    expected.push_back(number);
                }
                let waiting = expected.iter().all(|&n| !granted(&table[n as usize]));
                assert!(waiting, "{script}");
            }
            assert!(expected.is_empty(), "{script}");
            hand_over(&table, &word, |n| n + 1);
            assert_eq!(word.load(Ordering::Relaxed), 0, "{script}");
        }
    }

    #[test]
    fn kmpc_lock_queue_passes_by_threads_that_a_child_does_not_have() {
        for gone in [&[0][..], &[1], &[0, 1], &[1, 2], &[0, 1, 2]] {
            let table = table(4);
            let word = AtomicU32::new(0);
            assert!(take_or_join(&table, &word, 3, 1));
            for number in 0..3 {
                assert!(!take_or_join(&table, &word, number, 1));
            }
            for &number in gone {
                assert!(table[number].abandon());
            }
            for number in (0..3).filter(|n| !gone.contains(n)) {
                hand_over(&table, &word, |_| 1);
                assert!(granted(&table[number]));
            }
            hand_over(&table, &word, |_| 1);
            assert_eq!(word.load(Ordering::Relaxed), 0);
            assert!(!table[3].abandon());
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;

    struct Lock {
        word: AtomicU32,
        table: Vec<Waiter>,
        data: UnsafeCell<u32>,
    }

    impl Lock {
        fn new(threads: usize) -> Arc<Self> {
            let waiter = || Waiter {
                state: Futex::new(GRANTED),
                older: AtomicU32::new(0),
                newer: AtomicU32::new(0),
                oldest: AtomicU32::new(0),
            };
            Arc::new(Self {
                word: AtomicU32::new(0),
                table: (0..threads).map(|_| waiter()).collect(),
                data: UnsafeCell::new(0),
            })
        }

        fn acquire(&self, me: u32) {
            let first = self
                .word
                .compare_exchange(0, me + 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
            if !first && !take_or_join(&self.table, &self.word, me, me + 1) {
                self.table[me as usize].wait(&self.word, me + 1, |_| false);
            }
            assert_eq!(self.word.load(Ordering::Relaxed) & HOLDER, me + 1);
        }

        fn add(&self) -> u32 {
            // SAFETY: the lock is held; loom checks it.
            self.data.with_mut(|d| unsafe {
                *d += 1;
                *d
            })
        }

        fn release(&self) {
            hand_over(&self.table, &self.word, |n| n + 1);
        }
    }

    fn bounded(model: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(model);
    }

    /// Three threads add under the lock; no addition is lost, and the lock is free at the end.
    #[test]
    fn loom_lock_queue_excludes() {
        bounded(|| {
            let lock = Lock::new(3);
            let others: Vec<_> = (1..3)
                .map(|me| {
                    let lock = lock.clone();
                    loom::thread::spawn(move || {
                        lock.acquire(me);
                        lock.add();
                        lock.release();
                    })
                })
                .collect();
            lock.acquire(0);
            lock.add();
            lock.release();
            for other in others {
                other.join().unwrap();
            }
            assert_eq!(lock.word.load(Ordering::Relaxed), 0);
            lock.acquire(0);
            assert_eq!(lock.add(), 4);
        });
    }

    /// A thread acquires the lock twice while another waits: a waiter's state does not outlive its
    /// turn.
    #[test]
    fn loom_lock_queue_is_joined_again() {
        bounded(|| {
            let lock = Lock::new(2);
            let other = {
                let lock = lock.clone();
                loom::thread::spawn(move || {
                    for _ in 0..2 {
                        lock.acquire(1);
                        lock.add();
                        lock.release();
                    }
                })
            };
            for _ in 0..2 {
                lock.acquire(0);
                lock.add();
                lock.release();
            }
            other.join().unwrap();
            assert_eq!(lock.word.load(Ordering::Relaxed), 0);
            lock.acquire(0);
            assert_eq!(lock.add(), 5);
        });
    }

    /// If the holder sees that another thread waits, it comes after that one.
    #[test]
    fn loom_lock_queue_is_not_overtaken() {
        bounded(|| {
            let lock = Lock::new(2);
            lock.acquire(0);
            let other = {
                let lock = lock.clone();
                loom::thread::spawn(move || {
                    lock.acquire(1);
                    lock.add();
                    lock.release();
                })
            };
            let waits = lock.word.load(Ordering::Relaxed) >> NEWEST != 0;
            lock.release();
            lock.acquire(0);
            let sum = lock.add();
            assert!(!waits || sum == 2);
            lock.release();
            other.join().unwrap();
        });
    }
}
