//! Critical sections, locks and nestable locks.
//!
//! OpenMP 5.2, sections 15.2 (critical), 18.9 (lock routines).
//!
//! Every lock is one word inside the guest's own object, so nothing is allocated and nothing can
//! leak. A lock is handed over first come, first served ([`lock_queue`]). A waiter spins on a word
//! of its own, then sleeps. If there are processors for all threads, it spins for a long time,
//! because a sleeping waiter costs the thread that hands over a system call. Hints are accepted and
//! have no effect.
//!
//! The word of a lock that was never contended does not name its holder, because a constant is
//! faster. [`named`] has entries that store the holder, for the reports of the watchdog.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::ident::Ident;
use crate::lock_queue;
use crate::thread::current;
use crate::waits::Construct;
use omp_abi::lock::{FREE, HELD};

/// Returns the value that names, as holder, a thread to which the lock was handed over.
fn handed(number: u32) -> u32 {
    number + 2
}

/// Acquires the lock in `word` for `construct`. Acquire; pairs with the Release of [`release`].
#[inline]
pub fn acquire(word: &AtomicU32, construct: Construct) {
    if !try_acquire(word) {
        wait_for(word, handed, construct);
    }
}

/// Returns the global number of the thread that holds a lock, given the lock's word; `None` if the
/// lock is free, or was acquired without naming its holder.
pub(crate) fn holder(word: u32, construct: Construct) -> Option<u32> {
    let holder = word & lock_queue::HOLDER;
    match construct {
        Construct::NEST_LOCK => holder.checked_sub(1),
        _ => holder.checked_sub(2),
    }
}

/// Acquires the lock if it is free; returns true if it did.
#[inline]
pub fn try_acquire(word: &AtomicU32) -> bool {
    word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
        .is_ok()
}

/// Releases the lock, to the thread that has waited longest.
#[inline]
pub fn release(word: &AtomicU32) {
    if word
        .compare_exchange(HELD, FREE, Ordering::Release, Ordering::Relaxed)
        .is_err()
    {
        hand_over(word, handed);
    }
}

pub use queues::abandon;
use queues::{hand_over, wait_for};

/// The waiters of all locks.
#[cfg(not(loom))]
mod queues {
    use super::AtomicU32;
    use super::{Construct, HELD, Ordering};
    use crate::icv;
    use crate::lock_queue::{self, Waiter};
    use crate::thread::{MAX_THREADS, current};
    use crate::waits::{self, Wait};
    use std::time::{Duration, Instant};

    /// Number of checks before the waiter yields its processor between them, since the holder of
    /// the lock may need it.
    const YIELD_AFTER_CHECKS: u32 = 768;
    /// Number of checks before the waiter sleeps, if the team has more threads than processors.
    const SLEEP_AFTER_CHECKS: u32 = YIELD_AFTER_CHECKS + 48;
    /// Used if there are processors for all threads: number of checks between two readings of the
    /// clock.
    const CHECKS_PER_CLOCK_READING: u32 = 64;
    /// Time for which a waiter keeps its own processor.
    const YIELD_AFTER: Duration = Duration::from_micros(200);
    /// Time after which a waiter sleeps.
    const SLEEP_AFTER: Duration = Duration::from_millis(2);

    /// Checks if the lock was handed over. Returns true once it was, false when the waiter should
    /// sleep. The waiter's line is its own, so checks disturb no other thread. Calls `becomes_long`
    /// once before the waiter yields or sleeps.
    fn spin(granted: &dyn Fn() -> bool, mut becomes_long: impl FnMut()) -> bool {
        if icv::processors() == 1 {
            becomes_long();
            std::thread::yield_now();
            return granted();
        }
        let spin_policy = current().team().shape().spin_policy;
        let longest = Duration::from_micros(spin_policy.micros.into()).min(SLEEP_AFTER);
        let crowded = spin_policy.yields || longest.is_zero();
        let mut start = None;
        for check in 0u32.. {
            if check == YIELD_AFTER_CHECKS {
                becomes_long();
            }
            if check < YIELD_AFTER_CHECKS || !crowded {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
            if granted() {
                return true;
            }
            if crowded {
                if check >= SLEEP_AFTER_CHECKS {
                    return false;
                }
            } else if check >= YIELD_AFTER_CHECKS && check.is_multiple_of(CHECKS_PER_CLOCK_READING)
            {
                let waited = start.get_or_insert_with(Instant::now).elapsed();
                if waited >= longest {
                    return false;
                }
                if waited >= YIELD_AFTER {
                    std::thread::yield_now();
                }
            }
        }
        false
    }

    /// The waiters by thread number: a lock's word names threads of the whole process.
    static WAITERS: [Waiter; MAX_THREADS] = [const { Waiter::new() }; MAX_THREADS];

    // A lock's word can name each thread, by a value other than `HELD`.
    const _: () = assert!(MAX_THREADS < lock_queue::HOLDER as usize);

    /// Waits in `construct` for the lock in `word`; `holder` maps a thread number to the holder's
    /// value in the word.
    #[cold]
    pub(super) fn wait_for(word: &AtomicU32, holder: impl Fn(u32) -> u32, construct: Construct) {
        let me = current().gtid as u32;
        let own = construct != Construct::NEST_LOCK && forget_holder(word, holder(me));
        if !lock_queue::take_or_join(&WAITERS, word, me, holder(me)) {
            let wait = Wait {
                object: word.as_ptr().addr(),
                own,
                ..Wait::at(construct)
            };
            let mut waiting = None;
            WAITERS[me as usize].wait(word, holder(me), |granted| {
                spin(granted, || waiting = Some(waits::begin(wait, false)))
            });
            drop(waiting);
        }
    }

    /// Removes the holder's number from the word if the calling thread, of number `me`, holds the
    /// lock already; returns true if it does. A waiter takes its own number for a lock that is
    /// handed over to it, and would spin.
    fn forget_holder(word: &AtomicU32, me: u32) -> bool {
        let mut seen = word.load(Ordering::Relaxed);
        while seen & lock_queue::HOLDER == me {
            let unnamed = seen & !lock_queue::HOLDER | HELD;
            match word.compare_exchange(seen, unnamed, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Releases the lock in `word`, which may have waiters.
    #[cold]
    pub(super) fn hand_over(word: &AtomicU32, holder: impl Fn(u32) -> u32) {
        lock_queue::hand_over(&WAITERS, word, holder);
    }

    /// Marks the waiter of a thread that does not exist in this child of `fork`. Returns true if it
    /// waits for a lock, so that its number must not be reused.
    pub fn abandon(number: i32) -> bool {
        WAITERS[number as usize].abandon()
    }
}
/// Stand-in for loom, whose models drive the queue itself (`lock_queue`), without guests' locks.
#[cfg(loom)]
#[expect(missing_docs, reason = "a stand-in for loom")]
mod queues {
    pub(super) fn wait_for(_: &super::AtomicU32, _: impl Fn(u32) -> u32, _: super::Construct) {
        unreachable!()
    }
    pub(super) fn hand_over(_: &super::AtomicU32, _: impl Fn(u32) -> u32) {
        unreachable!()
    }
    pub fn abandon(_: i32) -> bool {
        false
    }
}

/// Returns the first word of a guest's lock object.
///
/// # Safety
/// `object` points to a live, 4-byte aligned object that the runtime owns.
unsafe fn word<'a>(object: *mut c_void) -> &'a AtomicU32 {
    // SAFETY: a live, aligned object of the runtime (caller's contract).
    unsafe { &*object.cast::<AtomicU32>() }
}

/// Enters a critical section; `cell` is the section's 8 x i32 cell, zero at first.
///
/// # Safety
/// `cell` is such a cell.
pub unsafe extern "C-unwind" fn critical(_ident: *const Ident, _gtid: i32, cell: *mut c_void) {
    // SAFETY: the compiler's cell lives as long as the program (caller's contract).
    acquire(unsafe { word(cell) }, Construct::CRITICAL);
}

/// Like [`critical`], with a hint.
///
/// # Safety
/// As for [`critical`].
pub unsafe extern "C-unwind" fn critical_with_hint(
    _ident: *const Ident,
    _gtid: i32,
    cell: *mut c_void,
    _hint: u32,
) {
    // SAFETY: the compiler's cell lives as long as the program (caller's contract).
    acquire(unsafe { word(cell) }, Construct::CRITICAL);
}

/// Leaves a critical section.
///
/// # Safety
/// As for [`critical`].
pub unsafe extern "C-unwind" fn end_critical(_ident: *const Ident, _gtid: i32, cell: *mut c_void) {
    // SAFETY: the compiler's cell lives as long as the program (caller's contract).
    release(unsafe { word(cell) });
}

/// A nestable lock, in the 8 bytes of `omp_nest_lock_t`.
#[repr(C)]
struct NestLock {
    /// 0 if free, else the owner as [`NestLock::holder`] names it, and the waiters
    /// ([`lock_queue`]).
    owner: AtomicU32,
    /// Nesting depth; accessed by the owner alone.
    depth: AtomicU32,
}

impl NestLock {
    fn holder(number: u32) -> u32 {
        number + 1
    }

    fn try_acquire(&self) -> u32 {
        let me = Self::holder(current().gtid as u32);
        if self.owner.load(Ordering::Relaxed) & lock_queue::HOLDER == me {
            let depth = self.depth.load(Ordering::Relaxed) + 1;
            self.depth.store(depth, Ordering::Relaxed);
            return depth;
        }
        if self
            .owner
            .compare_exchange(FREE, me, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
        {
            self.depth.store(1, Ordering::Relaxed);
            return 1;
        }
        0
    }

    fn acquire(&self) {
        if self.try_acquire() == 0 {
            wait_for(&self.owner, Self::holder, Construct::NEST_LOCK);
            self.depth.store(1, Ordering::Relaxed);
        }
    }

    fn release(&self) {
        let depth = self.depth.load(Ordering::Relaxed).saturating_sub(1);
        self.depth.store(depth, Ordering::Relaxed);
        let seen = self.owner.load(Ordering::Relaxed);
        if depth == 0
            && (seen & !lock_queue::HOLDER != 0
                || self
                    .owner
                    .compare_exchange(seen, FREE, Ordering::Release, Ordering::Relaxed)
                    .is_err())
        {
            hand_over(&self.owner, Self::holder);
        }
    }
}

/// Returns the guest's nestable lock.
///
/// # Safety
/// As for [`word`], 8 bytes.
unsafe fn nest<'a>(object: *mut c_void) -> &'a NestLock {
    // SAFETY: a live, aligned object of 8 bytes (caller's contract).
    unsafe { &*object.cast::<NestLock>() }
}

/// Returns the nesting depth of a nestable lock.
///
/// # Safety
/// `object` is a nestable lock that the calling thread holds.
pub unsafe fn depth(object: *mut c_void) -> u32 {
    // SAFETY: a live nestable lock (caller's contract).
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
        /// Called by compilers, with a location.
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
    init init_at (lock) = "Initializes a lock." {
        // SAFETY: a live lock object has 8 bytes (caller's contract).
        unsafe { lock.cast::<u64>().write(0) }
    }
    init_hint init_hint_at (lock, _hint: u32) = "Initializes a lock; the hint has no effect." {
        // SAFETY: a live lock object has 8 bytes (caller's contract).
        unsafe { lock.cast::<u64>().write(0) }
    }
    destroy destroy_at (lock) = "Destroys a lock." {
        // SAFETY: a live lock object has 8 bytes (caller's contract).
        unsafe { lock.cast::<u64>().write(0) }
    }
    set set_at (lock) = "Waits for a lock and acquires it." {
        // SAFETY: a live lock object (caller's contract).
        acquire(unsafe { word(lock) }, Construct::LOCK)
    }
    unset unset_at (lock) = "Releases a lock." {
        // SAFETY: a live lock object (caller's contract).
        release(unsafe { word(lock) })
    }
    test test_at (lock) -> i32 = "Acquires a lock if it is free; returns 1 if it did." {
        // SAFETY: a live lock object (caller's contract).
        try_acquire(unsafe { word(lock) }) as i32
    }
    nest_init nest_init_at (lock) = "Initializes a nestable lock." {
        // SAFETY: a live lock object has 8 bytes (caller's contract).
        unsafe { lock.cast::<u64>().write(0) }
    }
    nest_init_hint nest_init_hint_at (lock, _hint: u32) = "Initializes a nestable lock." {
        // SAFETY: a live lock object has 8 bytes (caller's contract).
        unsafe { lock.cast::<u64>().write(0) }
    }
    nest_destroy nest_destroy_at (lock) = "Destroys a nestable lock." {
        // SAFETY: a live lock object has 8 bytes (caller's contract).
        unsafe { lock.cast::<u64>().write(0) }
    }
    nest_set nest_set_at (lock) = "Waits for a nestable lock and acquires it once more." {
        // SAFETY: a live nestable lock (caller's contract).
        unsafe { nest(lock) }.acquire()
    }
    nest_unset nest_unset_at (lock) = "Releases a nestable lock once." {
        // SAFETY: a live nestable lock (caller's contract).
        unsafe { nest(lock) }.release()
    }
    nest_test nest_test_at (lock) -> i32 = "Acquires a nestable lock if possible; returns its nesting depth, or 0." {
        // SAFETY: a live nestable lock (caller's contract).
        unsafe { nest(lock) }.try_acquire() as i32
    }
}

/// Entries that store the number of the holder in the word of a lock or critical section. The entries
/// that release a lock are the same: they see that the word is not the constant.
pub mod named {
    use super::{
        AtomicU32, Construct, FREE, Ident, Ordering, c_void, current, handed, wait_for, word,
    };
    use crate::table::Address;
    use std::sync::atomic::AtomicBool;

    /// True if programs call these entries: a property of the process, as the watchdog is.
    static WANTED: AtomicBool = AtomicBool::new(false);

    /// Makes programs that are linked from now on call these entries.
    pub fn want() {
        WANTED.store(true, Ordering::Relaxed);
    }

    /// Returns true if programs call these entries.
    pub fn wanted() -> bool {
        WANTED.load(Ordering::Relaxed)
    }

    fn try_acquire(word: &AtomicU32) -> bool {
        let me = handed(current().gtid as u32);
        word.compare_exchange(FREE, me, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    fn acquire(word: &AtomicU32, construct: Construct) {
        if !try_acquire(word) {
            wait_for(word, handed, construct);
        }
    }

    unsafe extern "C-unwind" fn critical(_: *const Ident, _gtid: i32, cell: *mut c_void) {
        // SAFETY: the compiler's cell lives as long as the program.
        acquire(unsafe { word(cell) }, Construct::CRITICAL);
    }

    unsafe extern "C-unwind" fn set(lock: *mut c_void) {
        // SAFETY: the program passes a live lock object.
        acquire(unsafe { word(lock) }, Construct::LOCK);
    }

    unsafe extern "C-unwind" fn set_at(_: *const Ident, _gtid: i32, lock: *mut c_void) {
        // SAFETY: the program passes a live lock object.
        acquire(unsafe { word(lock) }, Construct::LOCK);
    }

    unsafe extern "C-unwind" fn test(lock: *mut c_void) -> i32 {
        // SAFETY: the program passes a live lock object.
        try_acquire(unsafe { word(lock) }).into()
    }

    unsafe extern "C-unwind" fn test_at(_: *const Ident, _gtid: i32, lock: *mut c_void) -> i32 {
        // SAFETY: the program passes a live lock object.
        try_acquire(unsafe { word(lock) }).into()
    }

    /// Returns the entry of this module for a name of the ABI. The hint of
    /// `__kmpc_critical_with_hint` is not read.
    pub fn entry(name: &str) -> Option<Address> {
        let address = match name {
            "__kmpc_critical" | "__kmpc_critical_with_hint" => critical as *const c_void,
            "omp_set_lock" | "omp_set_lock_" => set as *const c_void,
            "__kmpc_set_lock" => set_at as *const c_void,
            "omp_test_lock" | "omp_test_lock_" => test as *const c_void,
            "__kmpc_test_lock" => test_at as *const c_void,
            _ => return None,
        };
        Some(Address(address))
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
                        acquire(&lock, Construct::LOCK);
                        let p = std::ptr::with_exposed_provenance_mut::<u64>(shared);
                        // SAFETY: the lock is held, so the access is exclusive.
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
