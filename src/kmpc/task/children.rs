//! Completion state of a task's children: how many are done, and if the task's memory may be freed.
//!
//! The state is one word, written by the threads that complete children and at the task's own end.
//! The number of children submitted belongs to the parent alone and lies elsewhere (in another
//! cache line); it is passed in. loom checks that exactly one thread frees the task, and only after
//! its last use.

use ompvm_support::sync::{AtomicU64, Ordering};

/// One done child, in the low 31 bits.
const DONE: u64 = 1;
/// Mask of the count of done children.
const DONE_MASK: u64 = (1 << 31) - 1;
/// Set when the task itself is complete.
const COMPLETE: u64 = 1 << 31;
/// One child whose memory is free, in the high 32 bits; once the task is complete, these count from
/// minus the number of children.
const FREED: u64 = 1 << 32;
/// Number of children after which a task waits for all of them and resets the count.
pub const LIMIT: u32 = 1 << 30;

/// The word.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Children(AtomicU64);

/// State that a child found when it reported its completion.
#[derive(Clone, Copy, Debug)]
pub struct ChildrenState {
    now: u64,
}

impl ChildrenState {
    /// Returns true if all of `spawned` children were done then.
    pub fn all_done(self, spawned: u32) -> bool {
        self.now & DONE_MASK == u64::from(spawned)
    }

    /// Returns true if this was the last child's memory and the task is complete, so that the
    /// caller must free the task's memory.
    #[inline(always)]
    pub fn all_freed(self) -> bool {
        self.now & COMPLETE != 0 && self.now >> 32 == 0
    }
}

impl Children {
    /// Resets the word: none submitted, none done. Relaxed: only the task itself uses it then.
    #[inline(always)]
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Returns true if all of `spawned` are done. Acquire: their effects are visible then.
    #[inline(always)]
    pub fn all_done(&self, spawned: u32) -> bool {
        self.0.load(Ordering::Acquire) & DONE_MASK == u64::from(spawned)
    }

    /// Returns true if the memory of all of `spawned` is free; the task is not complete. Acquire:
    /// the children do not use the word any more.
    #[inline(always)]
    pub fn all_freed(&self, spawned: u32) -> bool {
        self.0.load(Ordering::Acquire) >> 32 == u64::from(spawned)
    }

    /// Reports that a child is done, and that its memory is free if `freed`. The task may be freed
    /// afterwards, unless [`ChildrenState::all_freed`].
    ///
    /// AcqRel: the parent sees the child's effects; the last child sees that the parent is
    /// complete, and all effects. SeqCst: a full fence on x86-64, for the check for sleepers that
    /// follows.
    #[inline(always)]
    pub fn one_done(&self, freed: bool) -> ChildrenState {
        let add = if freed { DONE + FREED } else { DONE };
        let before = self.0.fetch_add(add, Ordering::SeqCst);
        ChildrenState {
            now: before.wrapping_add(add),
        }
    }

    /// Reports that the memory of a child that was done before is free. AcqRel: as in
    /// [`Children::one_done`].
    pub fn one_freed(&self) -> ChildrenState {
        let before = self.0.fetch_add(FREED, Ordering::AcqRel);
        ChildrenState {
            now: before.wrapping_add(FREED),
        }
    }

    /// Reports that the task, with `spawned` children, is complete. Returns true if its memory is
    /// free now; otherwise the last child frees it.
    #[inline]
    pub fn retire(&self, spawned: u32) -> bool {
        if spawned == 0 || self.all_freed(spawned) {
            return true;
        }
        // From here on the count of freed children counts up from minus their number: the thread
        // that brings it to 0 needs neither that number nor the task.
        let spawned = u64::from(spawned) << 32;
        // AcqRel: exactly one of the last child and this thread sees both, and the other's effects.
        let before = self
            .0
            .fetch_add(COMPLETE.wrapping_sub(spawned), Ordering::AcqRel);
        before & !u64::from(u32::MAX) == spawned
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn kmpc_children_are_counted() {
        let word = Children::default();
        assert!(word.all_done(0) && word.retire(0));
        assert!(!word.one_done(true).all_freed());
        assert!(word.all_done(1) && word.all_freed(1) && word.retire(1));
        assert!(word.one_done(false).all_done(2) && !word.all_freed(2));
        assert!(!word.retire(2));
        assert!(word.one_freed().all_freed());
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::cell::UnsafeCell as Tracked;
    use loom::sync::Arc;

    struct Parent {
        children: Children,
        /// Memory that each child uses before it reports, and that the freeing thread writes.
        memory: Tracked<u32>,
        freed: AtomicU64,
    }
    // SAFETY: the word under test orders the accesses; loom checks that it does.
    unsafe impl Sync for Parent {}
    // SAFETY: no field is bound to a thread.
    unsafe impl Send for Parent {}

    impl Parent {
        fn read(&self) {
            // SAFETY: no thread writes before the task is free; loom checks it.
            self.memory.with(|p| unsafe { assert_eq!(*p, 7) });
        }

        fn free(&self) {
            // SAFETY: no thread uses it any more; loom checks it.
            self.memory.with_mut(|p| unsafe { *p = 0 });
            self.freed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Two children, one of which is done before its memory is free; the parent ends meanwhile.
    #[test]
    fn loom_children_one_frees_the_parent() {
        loom::model(|| {
            let parent = Arc::new(Parent {
                children: Children::default(),
                memory: Tracked::new(7),
                freed: AtomicU64::new(0),
            });
            let children: Vec<_> = [true, false]
                .into_iter()
                .map(|at_once| {
                    let parent = parent.clone();
                    loom::thread::spawn(move || {
                        parent.read();
                        let mut state = parent.children.one_done(at_once);
                        if !at_once {
                            state = parent.children.one_freed();
                        }
                        if state.all_freed() {
                            parent.free();
                        }
                    })
                })
                .collect();
            parent.read();
            if parent.children.retire(2) {
                parent.free();
            }
            for child in children {
                child.join().unwrap();
            }
            assert_eq!(parent.freed.load(Ordering::Relaxed), 1);
        });
    }
}
