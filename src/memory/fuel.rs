//! Fuel: the number of instructions that a program may still execute in the interpreter.
//!
//! A program's fuel is in a [`Tank`] of its image. A thread takes [`SHARE`] at a time, so that
//! threads do not contend for the tank, and gives the rest back when it leaves the program. On one
//! thread the limit is exact; with more, a program ends up to one share early for each other
//! thread that executes it.
//!
//! Leaves counting to the interpreter (`exec::control`), which does it block by block.

use super::thread::ThreadState;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Instructions that a thread takes from a tank at once.
pub const SHARE: u64 = 4096;

/// The fuel of a program.
#[derive(Debug, Default)]
pub struct Tank {
    limited: AtomicBool,
    left: AtomicU64,
}

/// A thread's share of the fuel of the program that it executes.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The rest of it; negative while a block waits for more.
    pub left: i64,
    tank: *const Tank,
}

impl Tank {
    /// Sets the number of instructions that the program may execute from now on. Threads that
    /// execute it now keep their shares.
    pub fn fill(&self, instructions: u64) {
        self.left.store(instructions, Ordering::Relaxed);
        self.limited.store(true, Ordering::Relaxed);
    }

    /// Returns true if the program's instructions are limited.
    #[inline]
    pub fn is_limited(&self) -> bool {
        self.limited.load(Ordering::Relaxed)
    }

    /// Returns the instructions left, without the shares of threads that execute the program now;
    /// `None` without a limit.
    pub fn left(&self) -> Option<u64> {
        self.is_limited().then(|| self.left.load(Ordering::Relaxed))
    }

    /// Takes between `least` and `most` instructions. Returns `None` if there are fewer.
    fn take(&self, least: u64, most: u64) -> Option<u64> {
        let rest = |left: u64| (left >= least).then(|| left - left.min(most));
        let order = Ordering::Relaxed;
        let before = self.left.fetch_update(order, order, rest).ok()?;
        Some(before.min(most))
    }

    fn give_back(&self, instructions: u64) {
        let order = Ordering::Relaxed;
        let sum = |left: u64| Some(left.saturating_add(instructions));
        let _ = self.left.fetch_update(order, order, sum);
    }
}

impl Share {
    /// The share of a thread that executes no program with a limit.
    pub const NONE: Share = Share {
        left: 0,
        tank: ptr::null(),
    };

    /// Begins to execute a program on a thread. Returns the thread's share of the program around
    /// it, to be passed to [`Share::end`]; `None` if that is the same program.
    ///
    /// # Safety
    /// `state` is the calling thread's.
    pub unsafe fn begin(state: *mut ThreadState, tank: &Tank) -> Option<Share> {
        // SAFETY: the state is this thread's (the caller's contract).
        let share = unsafe { &mut (*state).fuel };
        if ptr::eq(share.tank, tank) {
            return None;
        }
        let fresh = Share { left: 0, tank };
        Some(std::mem::replace(share, fresh))
    }

    /// Ends what [`Share::begin`] began: gives the rest back and restores the share `outer`.
    ///
    /// # Safety
    /// `state` is the calling thread's.
    #[inline]
    pub unsafe fn end(state: *mut ThreadState, tank: &Tank, outer: Option<Share>) {
        if let Some(outer) = outer {
            // SAFETY: the state is this thread's (the caller's contract).
            unsafe { (*state).fuel.replace_with(outer, tank) };
        }
    }

    #[cold]
    fn replace_with(&mut self, outer: Share, tank: &Tank) {
        let share = std::mem::replace(self, outer);
        if ptr::eq(share.tank, tank) {
            tank.give_back(share.left.max(0) as u64);
        }
    }

    /// Takes more from the program's tank for a block that found too little. Returns false if
    /// the tank has too little, too.
    #[cold]
    pub fn refill(&mut self, tank: &Tank) -> bool {
        // After a fault the thread may have no share.
        self.tank = tank;
        let lacking = self.left.min(0).unsigned_abs();
        let Some(taken) = tank.take(lacking, SHARE.max(lacking)) else {
            return false;
        };
        self.left = self.left.saturating_add_unsigned(taken);
        true
    }

    /// Gives the rest of a thread's share back after a fault has left the code that used it.
    ///
    /// # Safety
    /// The thread still is within a call of the program that the share belongs to.
    pub(super) unsafe fn abandon(&mut self) {
        // SAFETY: null, or the tank of a program that exists (the caller's contract).
        if let Some(tank) = unsafe { self.tank.as_ref() } {
            tank.give_back(self.left.max(0) as u64);
        }
        *self = Share::NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_taken_and_given_back() {
        let tank = Tank::default();
        assert_eq!(tank.left(), None);
        tank.fill(2 * SHARE + 10);
        let mut share = Share {
            left: -3,
            ..Share::NONE
        };
        assert!(share.refill(&tank));
        assert_eq!(
            (share.left, tank.left()),
            (SHARE as i64 - 3, Some(SHARE + 10))
        );
        share.left = -(SHARE as i64) - 5;
        assert!(share.refill(&tank));
        assert_eq!((share.left, tank.left()), (0, Some(5)));
        share.left = -6;
        assert!(!share.refill(&tank), "five are not enough for six");
        assert_eq!(tank.left(), Some(5));
        share.left = -5;
        assert!(share.refill(&tank));
        assert_eq!((share.left, tank.left()), (0, Some(0)));
        share.left = 7;
        // SAFETY: the tank exists.
        unsafe { share.abandon() };
        assert_eq!(tank.left(), Some(7));
    }
}
