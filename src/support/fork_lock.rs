//! Locks that a thread holds while it forks, so that no other thread holds them in the child.
//!
//! They are std's mutexes, whose state is one word: `parking_lot` keeps its waiters in a
//! process-wide table and may hand a lock to a thread that the child does not have.
//!
//! A fork waits for each lock for a limited time only, since the owner may be stopped, or the
//! interrupted thread if a signal handler forks. The child then inherits the lock's state as it is.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The longest wait for a lock. The longest critical section, the compilation of a rare
/// instruction, is much shorter.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Locks a mutex. Nothing under these locks panics, so poisoning is ignored.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex before a fork; `None` if another thread holds it for longer than a second.
pub fn lock_before_fork<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    let mut since = None;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(e)) => return Some(e.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        if since.get_or_insert_with(Instant::now).elapsed() > MAX_WAIT {
            return None;
        }
        std::thread::sleep(Duration::from_micros(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_stays_held_is_given_up() {
        let mutex = Mutex::new(1);
        let held = lock(&mutex);
        assert!(lock_before_fork(&mutex).is_none());
        drop(held);
        assert_eq!(lock_before_fork(&mutex).as_deref(), Some(&1));
    }
}
