//! Critical sections, locks and nestable locks.
//! OpenMP 5.2, sections 15.2 (critical), 18.9 (lock routines).
//!
//! Every lock is one futex word inside the guest's own object, so nothing is allocated and nothing
//! can leak. A waiter spins with growing pauses, then sleeps: while there are processors for all it does
//! not before long, for who sleeps makes the next one who gives the lock back call the system. Hints are accepted and change
//! nothing. Locks are unfair: a thread that runs may take a lock before one that wakes up.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::kmpc::icv;
use crate::kmpc::ident::Ident;
use crate::kmpc::thread::current;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody may sleep.
const CONTENDED: u32 = 2;

/// Takes the lock in `word`. Acquire; pairs with the Release of [`release`].
#[inline]
pub fn acquire(word: &AtomicU32) {
    if word
        .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        acquire_slowly(word);
    }
}

/// Pauses between two looks at a lock at most, for each look takes the line away from who holds it:
/// with 16 of them two threads' short sections took half as long again.
const LONGEST: u32 = 128;
/// Looks before the processor is offered between them, for who holds the lock may need it; and before
/// the waiter sleeps, where the team has more threads than there are processors.
const SELFISH: u32 = 12;
const LOOKS: u32 = 60;
/// Where there are processors for all: how long a waiter keeps its own, and how long it looks at most.
const KEEPS: Duration = Duration::from_micros(200);
const LOOKS_FOR: Duration = Duration::from_millis(2);

/// Looks whether `take` succeeds until it does, or it is time to sleep.
fn look(take: impl Fn() -> bool) -> bool {
    if icv::processors() == 1 {
        std::thread::yield_now();
        return take();
    }
    let patience = current().team().shape().patience;
    let longest = Duration::from_micros(patience.micros.into()).min(LOOKS_FOR);
    let crowded = patience.yields || longest.is_zero();
    let mut start = None;
    let mut pauses = 1;
    for look in 0u32.. {
        if look < SELFISH || !crowded {
            for _ in 0..pauses {
                std::hint::spin_loop();
            }
            pauses = (pauses * 2).min(LONGEST);
        } else {
            std::thread::yield_now();
        }
        if take() {
            return true;
        }
        if crowded {
            if look >= LOOKS {
                return false;
            }
        } else if look >= SELFISH {
            let waited = start.get_or_insert_with(Instant::now).elapsed();
            if waited >= longest {
                return false;
            }
            if waited >= KEEPS {
                std::thread::yield_now();
            }
        }
    }
    false
}

#[cold]
fn acquire_slowly(word: &AtomicU32) {
    // Where somebody sleeps, others go on looking: the one that is woken marks the lock again.
    let taken = look(|| word.load(Ordering::Relaxed) == FREE && try_acquire(word));
    if !taken {
        while word.swap(CONTENDED, Ordering::Acquire) != FREE {
            crate::support::sync::futex_wait(word, CONTENDED);
        }
    }
}

/// Takes the lock if it is free.
#[inline]
pub fn try_acquire(word: &AtomicU32) -> bool {
    word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
        .is_ok()
}

/// Gives the lock back and wakes a sleeper.
#[inline]
pub fn release(word: &AtomicU32) {
    if word.swap(FREE, Ordering::Release) == CONTENDED {
        crate::support::sync::futex_wake(word, 1);
    }
}

/// The first word of a guest's lock object.
///
/// # Safety
/// `object` points to a live, 4-byte aligned object that the runtime owns.
unsafe fn word<'a>(object: *mut c_void) -> &'a AtomicU32 {
    // SAFETY: the caller's contract.
    unsafe { &*object.cast::<AtomicU32>() }
}

/// Enters a critical section; `cell` is the section's 8 x i32 cell, zero at first.
///
/// # Safety
/// `cell` is such a cell.
pub unsafe extern "C-unwind" fn critical(_ident: *const Ident, _gtid: i32, cell: *mut c_void) {
    // SAFETY: the caller's contract.
    acquire(unsafe { word(cell) });
}

/// As [`critical`], with a hint.
///
/// # Safety
/// As for [`critical`].
pub unsafe extern "C-unwind" fn critical_with_hint(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut c_void,
    _hint: u32,
) {
    // SAFETY: the caller's contract.
    acquire(unsafe { word(cell) });
}

/// Leaves a critical section.
///
/// # Safety
/// As for [`critical`].
pub unsafe extern "C-unwind" fn end_critical(_ident: *const Ident, _gtid: i32, cell: *mut c_void) {
    // SAFETY: the caller's contract.
    release(unsafe { word(cell) });
}

/// A nestable lock, in the 8 bytes of `omp_nest_lock_t`.
#[repr(C)]
struct NestLock {
    /// 0 free, otherwise the owner's number + 1, shifted by one; bit 0 if somebody may sleep.
    owner: AtomicU32,
    /// How often the owner holds it; the owner's alone.
    depth: AtomicU32,
}

impl NestLock {
    fn me() -> u32 {
        (current().gtid as u32 + 1) << 1
    }

    fn try_acquire(&self) -> u32 {
        let me = Self::me();
        if self.owner.load(Ordering::Relaxed) & !1 == me {
            let depth = self.depth.load(Ordering::Relaxed) + 1;
            self.depth.store(depth, Ordering::Relaxed);
            return depth;
        }
        if self
            .owner
            .compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
        {
            self.depth.store(1, Ordering::Relaxed);
            return 1;
        }
        0
    }

    fn acquire(&self) {
        if self.try_acquire() > 0 {
            return;
        }
        let me = Self::me();
        if look(|| self.owner.load(Ordering::Relaxed) == 0 && self.try_acquire() > 0) {
            return;
        }
        loop {
            let seen = self.owner.load(Ordering::Relaxed);
            if seen == 0 {
                // Others may sleep: keep their bit.
                if self
                    .owner
                    .compare_exchange(0, me | 1, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
                {
                    self.depth.store(1, Ordering::Relaxed);
                    return;
                }
                continue;
            }
            if seen & 1 == 1
                || self
                    .owner
                    .compare_exchange(seen, seen | 1, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
            {
                crate::support::sync::futex_wait(&self.owner, seen | 1);
            }
        }
    }

    fn release(&self) {
        let depth = self.depth.load(Ordering::Relaxed).saturating_sub(1);
        self.depth.store(depth, Ordering::Relaxed);
        if depth == 0 && self.owner.swap(0, Ordering::Release) & 1 == 1 {
            crate::support::sync::futex_wake(&self.owner, 1);
        }
    }
}

/// The guest's nestable lock.
///
/// # Safety
/// As for [`word`], 8 bytes.
unsafe fn nest<'a>(object: *mut c_void) -> &'a NestLock {
    // SAFETY: the caller's contract.
    unsafe { &*object.cast::<NestLock>() }
}

/// How often a nestable lock is held.
///
/// # Safety
/// A nestable lock that the calling thread holds.
pub unsafe fn depth(object: *mut c_void) -> u32 {
    // SAFETY: the caller's contract.
    unsafe { nest(object) }.depth.load(Ordering::Relaxed)
}

macro_rules! entries {
    ($($name:ident $located:ident ($object:ident $(, $hint:ident: $hint_type:ty)?) $(-> $ret:ty)? = $doc:literal $body:block)*) => {$(
        #[doc = $doc]
        ///
        /// # Safety
        /// The argument points to a live lock object of the guest.
        pub unsafe extern "C-unwind" fn $name($object: *mut c_void $(, $hint: $hint_type)?) $(-> $ret)? $body

        #[doc = $doc]
        /// As compilers call it, with a location.
        ///
        /// # Safety
        /// The argument points to a live lock object of the guest.
        pub unsafe extern "C-unwind" fn $located(
            _ident: *const Ident,
            _gtid: i32,
            $object: *mut c_void
            $(, $hint: $hint_type)?
        ) $(-> $ret)? $body
    )*};
}
entries! {
    init init_at (lock) = "Makes a lock free." {
        // SAFETY: the caller's contract: 8 bytes.
        unsafe { lock.cast::<u64>().write(0) }
    }
    init_hint init_hint_at (lock, _hint: u32) = "Makes a lock free; the hint changes nothing." {
        // SAFETY: the caller's contract: 8 bytes.
        unsafe { lock.cast::<u64>().write(0) }
    }
    destroy destroy_at (lock) = "Ends a lock's life." {
        // SAFETY: the caller's contract: 8 bytes.
        unsafe { lock.cast::<u64>().write(0) }
    }
    set set_at (lock) = "Waits for a lock and takes it." {
        // SAFETY: the caller's contract.
        acquire(unsafe { word(lock) })
    }
    unset unset_at (lock) = "Gives a lock back." {
        // SAFETY: the caller's contract.
        release(unsafe { word(lock) })
    }
    test test_at (lock) -> i32 = "Takes a lock if it is free; says whether it did." {
        // SAFETY: the caller's contract.
        try_acquire(unsafe { word(lock) }) as i32
    }
    nest_init nest_init_at (lock) = "Makes a nestable lock free." {
        // SAFETY: the caller's contract: 8 bytes.
        unsafe { lock.cast::<u64>().write(0) }
    }
    nest_init_hint nest_init_hint_at (lock, _hint: u32) = "Makes a nestable lock free." {
        // SAFETY: the caller's contract: 8 bytes.
        unsafe { lock.cast::<u64>().write(0) }
    }
    nest_destroy nest_destroy_at (lock) = "Ends a nestable lock's life." {
        // SAFETY: the caller's contract: 8 bytes.
        unsafe { lock.cast::<u64>().write(0) }
    }
    nest_set nest_set_at (lock) = "Waits for a nestable lock and takes it once more." {
        // SAFETY: the caller's contract.
        unsafe { nest(lock) }.acquire()
    }
    nest_unset nest_unset_at (lock) = "Gives a nestable lock back once." {
        // SAFETY: the caller's contract.
        unsafe { nest(lock) }.release()
    }
    nest_test nest_test_at (lock) -> i32 = "Takes a nestable lock if it can; how deep it is held." {
        // SAFETY: the caller's contract.
        unsafe { nest(lock) }.try_acquire() as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kmpc_lock_excludes() {
        let lock = AtomicU32::new(0);
        let mut total = 0u64;
        let shared = (&raw mut total).expose_provenance();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        acquire(&lock);
                        let p = std::ptr::with_exposed_provenance_mut::<u64>(shared);
                        // SAFETY: exclusive under the lock.
                        unsafe { *p += 1 };
                        release(&lock);
                    }
                });
            }
        });
        assert_eq!(total, 40_000);
    }

    #[test]
    fn kmpc_nest_lock_counts() {
        let lock = NestLock {
            owner: AtomicU32::new(0),
            depth: AtomicU32::new(0),
        };
        lock.acquire();
        assert_eq!(lock.try_acquire(), 2);
        lock.release();
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(lock.try_acquire(), 0));
        });
        lock.release();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(lock.try_acquire(), 1);
                lock.release();
            });
        });
    }
}
