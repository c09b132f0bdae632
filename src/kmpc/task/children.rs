//! What a task knows of its children: how many are done, whether its own memory may be freed.
//!
//! One word, written by whoever completes a child and by the task's own end. The number of children
//! submitted is the parent's alone and lies elsewhere (another cache line); it is passed in. loom
//! checks that exactly one frees the task, and only after everybody is done with it.

use crate::support::sync::{AtomicU64, Ordering};

/// One child done, in the low 31 bits.
const DONE: u64 = 1;
/// All of them.
const DONE_MASK: u64 = (1 << 31) - 1;
/// The task itself is complete.
const COMPLETE: u64 = 1 << 31;
/// One child's memory is free, in the high 32 bits; once the task is complete, they count from minus
/// the number of children.
const FREED: u64 = 1 << 32;
/// Children after which a task waits for all and begins to count again.
pub const LIMIT: u32 = 1 << 30;

/// The word.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Children(AtomicU64);

/// What a child found when it said that it is done.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    now: u64,
}

impl Said {
    /// Whether all of `spawned` children were done then.
    pub fn all_done(self, spawned: u32) -> bool {
        self.now & DONE_MASK == u64::from(spawned)
    }

    /// Whether this was the last child's memory, and the task is complete: then its memory is the
    /// caller's to free.
    #[inline(always)]
    pub fn all_freed(self) -> bool {
        self.now & COMPLETE != 0 && self.now >> 32 == 0
    }
}

impl Children {
    /// None submitted, none done. Relaxed: only the task itself uses it then.
    #[inline(always)]
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Whether all of `spawned` are done. Acquire: what they did is visible then.
    #[inline(always)]
    pub fn all_done(&self, spawned: u32) -> bool {
        self.0.load(Ordering::Acquire) & DONE_MASK == u64::from(spawned)
    }

    /// Whether all of `spawned` are free, of a task that is not complete. Acquire: they are done with
    /// the word.
    #[inline(always)]
    pub fn all_freed(&self, spawned: u32) -> bool {
        self.0.load(Ordering::Acquire) >> 32 == u64::from(spawned)
    }

    /// A child is done, and its memory free if `freed`. After this the task may be gone, unless
    /// [`Said::all_freed`].
    ///
    /// AcqRel: the parent sees what the child did; the last child sees that the parent is complete, and
    /// what all did. SeqCst: a full fence on x86-64, for the look at the sleepers that follows.
    #[inline(always)]
    pub fn one_done(&self, freed: bool) -> Said {
        let add = if freed { DONE + FREED } else { DONE };
        let before = self.0.fetch_add(add, Ordering::SeqCst);
        Said {
            now: before.wrapping_add(add),
        }
    }

    /// The memory of a child that was done before is free. AcqRel: as in [`Children::one_done`].
    pub fn one_freed(&self) -> Said {
        let before = self.0.fetch_add(FREED, Ordering::AcqRel);
        Said {
            now: before.wrapping_add(FREED),
        }
    }

    /// The task, with `spawned` children, is complete; true if its memory is free now, else the last
    /// child frees it.
    #[inline]
    pub fn retire(&self, spawned: u32) -> bool {
        if spawned == 0 || self.all_freed(spawned) {
            return true;
        }
        // From here on the count of freed children is that of those to come, below 0: who brings it
        // to 0 need not ask how many there were, nor look at the task.
        let spawned = u64::from(spawned) << 32;
        // AcqRel: of the last child and us exactly one sees both, and what the other did.
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
        /// What each child uses before it says that it is done, and who frees the task writes.
        memory: Tracked<u32>,
        freed: AtomicU64,
    }
    // SAFETY: the word under test orders the accesses; loom checks that it does.
    unsafe impl Sync for Parent {}
    // SAFETY: as above.
    unsafe impl Send for Parent {}

    impl Parent {
        fn read(&self) {
            // SAFETY: nobody writes before the task is free; loom checks it.
            self.memory.with(|p| unsafe { assert_eq!(*p, 7) });
        }

        fn free(&self) {
            // SAFETY: nobody uses it any more; loom checks it.
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
                        let mut said = parent.children.one_done(at_once);
                        if !at_once {
                            said = parent.children.one_freed();
                        }
                        if said.all_freed() {
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
