//! The synchronization facade: std's atomics and the kernel's futex, or loom's models of them.
//!
//! Code whose interleavings are model-checked (`kmpc::team::{team_core, parker}`,
//! `kmpc::lock_queue`, `kmpc::task::deque`) takes its atomics from here, so
//! `RUSTFLAGS="--cfg loom"` swaps them without a change to that code. Everything else may use
//! `std::sync::atomic` directly.
//!
//! Does not wrap channels, and of mutexes only those that a child of `fork` must be able to reset
//! (`kmpc::fork_handlers`).

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

use std::sync::PoisonError;

#[cfg(not(tsan))]
pub use std::sync::{Mutex, MutexGuard};
#[cfg(tsan)]
pub use visible::{Mutex, MutexGuard};

/// A mutex that a race detector fully sees, for `cargo xtask stress --races`. Of std's mutex it
/// sees only the uncontended path, since the rest is compiled without instrumentation.
#[cfg(tsan)]
mod visible {
    use std::cell::UnsafeCell;
    use std::ops::{Deref, DerefMut};
    use std::sync::LockResult;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A replacement for [`std::sync::Mutex`] that is never poisoned.
    #[derive(Debug, Default)]
    pub struct Mutex<T> {
        held: AtomicBool,
        value: UnsafeCell<T>,
    }

    // SAFETY: the lock admits one thread at a time to the value.
    unsafe impl<T: Send> Sync for Mutex<T> {}

    impl<T> Mutex<T> {
        /// Makes a free mutex.
        pub const fn new(value: T) -> Self {
            Self {
                held: AtomicBool::new(false),
                value: UnsafeCell::new(value),
            }
        }

        /// Waits until the mutex is free, and locks it.
        pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            while self.held.swap(true, Ordering::Acquire) {
                std::thread::yield_now();
            }
            Ok(MutexGuard(self))
        }
    }

    /// The right to use what a mutex protects.
    #[derive(Debug)]
    pub struct MutexGuard<'a, T>(&'a Mutex<T>);

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            // SAFETY: the guard holds the mutex.
            unsafe { &*self.0.value.get() }
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: the guard holds the mutex.
            unsafe { &mut *self.0.value.get() }
        }
    }

    impl<T> Drop for MutexGuard<'_, T> {
        fn drop(&mut self) {
            self.0.held.store(false, Ordering::Release);
        }
    }
}

/// Locks the mutex. Ignores poison: internal code does not panic under a lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the processor (or the model) that the caller spins.
#[inline(always)]
pub fn spin_hint() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::hint::spin_loop();
}

/// Publishes `value` with Release order and orders it before every later load of this thread.
///
/// This is the first half of the store/load pattern of sleeping threads: a waker stores its
/// condition and then looks for sleepers, a sleeper announces itself and then looks at the
/// condition; at least one of them sees the other. On x86-64 one locked exchange does both.
#[inline(always)]
pub fn publish(cell: &AtomicU64, value: u64) {
    #[cfg(all(not(loom), target_arch = "x86_64"))]
    {
        cell.swap(value, Ordering::SeqCst);
    }
    #[cfg(any(loom, not(target_arch = "x86_64")))]
    {
        cell.store(value, Ordering::Release);
        fence(Ordering::SeqCst);
    }
}

/// Fences fully after a SeqCst read-modify-write, which on x86-64 is a full fence already.
#[inline(always)]
pub fn fence_after_exchange() {
    #[cfg(any(loom, not(target_arch = "x86_64")))]
    fence(Ordering::SeqCst);
}

/// A 32-bit word that threads can sleep on (`futex(2)`, process-private).
#[derive(Debug)]
pub struct Futex {
    word: AtomicU32,
    #[cfg(loom)]
    queue: (loom::sync::Mutex<()>, loom::sync::Condvar),
}

impl Futex {
    /// Makes a word with the given initial value.
    #[cfg(not(loom))]
    pub const fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
        }
    }

    /// Makes a word with the given initial value.
    #[cfg(loom)]
    pub fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            queue: (loom::sync::Mutex::new(()), loom::sync::Condvar::new()),
        }
    }

    /// Returns the word itself.
    #[inline(always)]
    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word holds `expected`; may return early.
    pub fn wait(&self, expected: u32) {
        #[cfg(not(loom))]
        futex_wait(&self.word, expected);
        #[cfg(loom)]
        {
            let guard = self.queue.0.lock().unwrap();
            if self.word.load(Ordering::Relaxed) == expected {
                drop(self.queue.1.wait(guard).unwrap());
            }
        }
    }

    /// Wakes one sleeper.
    pub fn wake_one(&self) {
        #[cfg(not(loom))]
        futex_wake(&self.word, 1);
        #[cfg(loom)]
        {
            let _guard = self.queue.0.lock().unwrap();
            self.queue.1.notify_all();
        }
    }
}

/// Sleeps while `word` holds `expected`; returns on a wake, on a signal or if the word differs.
pub fn futex_wait(word: &std::sync::atomic::AtomicU32, expected: u32) {
    // SAFETY: the address is a live, aligned 32-bit word; no time-out is passed.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            std::ptr::null::<libc::timespec>(),
        );
    }
}

/// Wakes up to `count` threads that sleep on `word`.
pub fn futex_wake(word: &std::sync::atomic::AtomicU32, count: i32) {
    // SAFETY: FUTEX_WAKE only uses the address as a key.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            count,
        );
    }
}
