//! A member's tasks that wait for a thread: the owner pushes and pops at the bottom, thieves take
//! from the top (Chase and Lev's deque, with the orderings of Le, Pop, Cohen and Zappa Nardelli).
//!
//! Our own instead of `crossbeam::deque`, because a thief must know whether it may execute a task
//! *before* it takes it (the scheduling constraint of tied tasks): [`Deque::steal`] shows the
//! task at the top to a filter, and takes it only if nobody took it meanwhile. What the filter reads
//! may belong to a task that somebody else has taken; so tasks lie in memory that always holds a
//! task (`memory.rs`), and what the filter said about such a task is thrown away.
//!
//! It grows without bound; who wants a bound asks [`Deque::len`] first. Buffers that were outgrown are
//! kept until the deque is dropped, since a thief may still read them. README.md states the protocol.

use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;

use crossbeam::utils::CachePadded;

use crate::support::sync::{AtomicPtr, AtomicU64, Ordering, fence, publish};

/// Places of the first buffer.
#[cfg(not(loom))]
const FIRST: usize = 512;
#[cfg(loom)]
const FIRST: usize = 2;

struct Buffer<T> {
    places: Box<[AtomicPtr<T>]>,
}

impl<T> Buffer<T> {
    fn new(size: usize) -> *mut Self {
        let places = (0..size).map(|_| AtomicPtr::new(null_mut())).collect();
        Box::into_raw(Box::new(Self { places }))
    }

    #[inline(always)]
    fn place(&self, index: u64) -> &AtomicPtr<T> {
        let mask = self.places.len() - 1;
        // SAFETY: the length is a power of two, so the masked index is below it.
        unsafe { self.places.get_unchecked(index as usize & mask) }
    }
}

/// What the owner alone uses.
struct Own<T> {
    /// The top as last seen: the true one is not below it.
    top: Cell<u64>,
    /// Outgrown buffers.
    old: UnsafeCell<Vec<*mut Buffer<T>>>,
}

/// How a theft ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steal<T> {
    /// There was nothing.
    Empty,
    /// Another thread was faster; there may be more.
    Lost,
    /// The filter refused the task at the top.
    Refused,
    /// Taken.
    Taken(*mut T),
}

/// A work-stealing deque of pointers.
pub struct Deque<T> {
    /// The next task that thieves take.
    top: CachePadded<AtomicU64>,
    /// One past the task pushed last; the owner's to write.
    bottom: CachePadded<AtomicU64>,
    buffer: AtomicPtr<Buffer<T>>,
    own: Own<T>,
}

// SAFETY: `own` is touched by the owner alone; the rest is atomic.
unsafe impl<T: Send> Sync for Deque<T> {}
// SAFETY: nothing in it is bound to a thread.
unsafe impl<T: Send> Send for Deque<T> {}

impl<T> Default for Deque<T> {
    fn default() -> Self {
        Self {
            top: CachePadded::new(AtomicU64::new(0)),
            bottom: CachePadded::new(AtomicU64::new(0)),
            buffer: AtomicPtr::new(null_mut()),
            own: Own {
                top: Cell::new(0),
                old: UnsafeCell::new(Vec::new()),
            },
        }
    }
}

impl<T> Deque<T> {
    /// Tasks in it, as the owner sees it: at least as many as there are.
    ///
    /// # Safety
    /// Only the owner may call it.
    #[inline(always)]
    pub unsafe fn len(&self, limit: u64) -> u64 {
        // Relaxed: our own.
        let bottom = self.bottom.load(Ordering::Relaxed);
        if bottom - self.own.top.get() >= limit {
            // Relaxed: only a count.
            self.own.top.set(self.top.load(Ordering::Relaxed));
        }
        bottom - self.own.top.get()
    }

    /// Whether it looks as if there were something to take.
    #[inline(always)]
    pub fn tempting(&self) -> bool {
        // Relaxed: a hint for who spins. Who is about to sleep looks after a full fence, and so
        // does the owner between its push and its look at the sleepers: one sees the other.
        self.top.load(Ordering::Relaxed) < self.bottom.load(Ordering::Relaxed)
    }

    /// Whether the task at the top is one that `accepts` accepts, which may be shown one that is
    /// no longer there.
    pub fn offers(&self, accepts: impl FnOnce(*mut T) -> bool) -> bool {
        // Acquire, three times: as in `steal`.
        let top = self.top.load(Ordering::Acquire);
        if top >= self.bottom.load(Ordering::Acquire) {
            return false;
        }
        // SAFETY: something was pushed, so there is a buffer; outgrown ones are kept.
        let buffer = unsafe { &*self.buffer.load(Ordering::Acquire) };
        accepts(buffer.place(top).load(Ordering::Relaxed))
    }

    /// Adds a task, and orders that before every later load of this thread (`publish`).
    ///
    /// # Safety
    /// Only the owner may call it.
    #[inline]
    pub unsafe fn push(&self, item: *mut T) {
        // Relaxed: our own words.
        let bottom = self.bottom.load(Ordering::Relaxed);
        let mut buffer = self.buffer.load(Ordering::Relaxed);
        // SAFETY: the owner's current buffer lives as long as the deque.
        let room = unsafe { buffer.as_ref() }.map_or(0, |b| b.places.len() as u64);
        if bottom - self.own.top.get() >= room {
            // SAFETY: the owner.
            buffer = unsafe { self.make_room(bottom, buffer) };
        }
        // SAFETY: not null after `make_room`. Relaxed: published with the bottom.
        unsafe { &*buffer }
            .place(bottom)
            .store(item, Ordering::Relaxed);
        publish(&self.bottom, bottom + 1);
    }

    /// Looks at the true top, and doubles the buffer if there is no place at all.
    #[cold]
    unsafe fn make_room(&self, bottom: u64, buffer: *mut Buffer<T>) -> *mut Buffer<T> {
        // Acquire: a thief that moved the top on has read its place; the place may be written.
        let top = self.top.load(Ordering::Acquire);
        self.own.top.set(top);
        // SAFETY: as in `push`.
        let Some(full) = (unsafe { buffer.as_ref() }) else {
            let first = Buffer::new(FIRST);
            self.buffer.store(first, Ordering::Release);
            return first;
        };
        if bottom - top < full.places.len() as u64 {
            return buffer;
        }
        let grown = Buffer::new(full.places.len() * 2);
        for index in top..bottom {
            // Relaxed: our own places, published by the Release below.
            let item = full.place(index).load(Ordering::Relaxed);
            // SAFETY: just made.
            unsafe { &*grown }
                .place(index)
                .store(item, Ordering::Relaxed);
        }
        // SAFETY: the owner's list.
        unsafe { &mut *self.own.old.get() }.push(buffer);
        self.buffer.store(grown, Ordering::Release);
        grown
    }

    /// Takes the task pushed last, if `accepts` it.
    ///
    /// # Safety
    /// Only the owner may call it.
    #[inline]
    pub unsafe fn pop(&self, accepts: impl FnOnce(*mut T) -> bool) -> Option<*mut T> {
        // Relaxed: our own words.
        let bottom = self.bottom.load(Ordering::Relaxed);
        if bottom == self.own.top.get() {
            return None;
        }
        let last = bottom - 1;
        // SAFETY: something was pushed, so there is a buffer.
        let buffer = unsafe { &*self.buffer.load(Ordering::Relaxed) };
        let item = buffer.place(last).load(Ordering::Relaxed);
        if !accepts(item) {
            return None;
        }
        // The bottom goes down before the top is read, and a thief reads the bottom after the top:
        // of owner and thief at the last task at least one sees the other (both fences).
        #[cfg(all(not(loom), target_arch = "x86_64"))]
        self.bottom.swap(last, Ordering::SeqCst);
        #[cfg(any(loom, not(target_arch = "x86_64")))]
        {
            self.bottom.store(last, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
        let top = self.top.load(Ordering::Relaxed);
        self.own.top.set(top);
        if top < last {
            return Some(item);
        }
        let mut won = false;
        if top == last {
            // SeqCst: decides between us and the thieves that saw the old bottom.
            won = self
                .top
                .compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok();
            self.own.top.set(top + 1);
        }
        // Empty now, at the place that was taken last.
        self.bottom.store(bottom, Ordering::Relaxed);
        if top > last {
            self.own.top.set(bottom);
        }
        won.then_some(item)
    }

    /// Takes the oldest task if `accepts` it.
    ///
    /// `accepts` may see a task that is no longer there; what it says then has no effect.
    #[inline]
    pub fn steal(&self, accepts: impl FnOnce(*mut T) -> bool) -> Steal<T> {
        // Acquire, and the fence: see `pop`. On x86-64 loads are not reordered, and the owner's
        // exchange is the fence that counts; the compiler must keep the order all the same.
        let top = self.top.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        // Acquire: what the owner wrote before the push is visible.
        let bottom = self.bottom.load(Ordering::Acquire);
        if top >= bottom {
            return Steal::Empty;
        }
        // Acquire: the places of a grown buffer are visible.
        let buffer = self.buffer.load(Ordering::Acquire);
        // SAFETY: something was pushed, so there is one; outgrown buffers are kept.
        let item = unsafe { &*buffer }.place(top).load(Ordering::Relaxed);
        if !accepts(item) {
            return Steal::Refused;
        }
        // SeqCst: one of all who saw this top takes the task. Success means that it was there all
        // the time, since the top never goes back.
        match self
            .top
            .compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed)
        {
            Ok(_) => Steal::Taken(item),
            Err(_) => Steal::Lost,
        }
    }
}

impl<T> Drop for Deque<T> {
    fn drop(&mut self) {
        let current = self.buffer.load(Ordering::Relaxed);
        // SAFETY: nobody else knows the deque any more.
        let old = unsafe { &mut *self.own.old.get() };
        for buffer in old.drain(..).chain((!current.is_null()).then_some(current)) {
            // SAFETY: made by `Buffer::new`, dropped once.
            drop(unsafe { Box::from_raw(buffer) });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn number(n: usize) -> *mut u8 {
        std::ptr::without_provenance_mut(n)
    }

    #[test]
    fn kmpc_deque_is_a_stack_for_its_owner_and_a_queue_for_thieves() {
        let deque = Deque::default();
        // SAFETY: this thread owns it.
        unsafe {
            for n in 1..=2000 {
                deque.push(number(n));
            }
            assert_eq!(deque.len(1), 2000);
            assert_eq!(deque.pop(|_| true), Some(number(2000)));
            assert_eq!(deque.pop(|_| false), None);
            assert_eq!(deque.steal(|_| true), Steal::Taken(number(1)));
            assert_eq!(deque.steal(|_| false), Steal::Refused);
            for n in (2..2000).rev() {
                assert_eq!(deque.pop(|_| true), Some(number(n)));
            }
            assert_eq!(deque.pop(|_| true), None);
            assert_eq!(deque.steal(|_| true), Steal::Empty);
            deque.push(number(7));
            assert_eq!(deque.steal(|_| true), Steal::Taken(number(7)));
            assert_eq!(deque.pop(|_| true), None);
            assert_eq!(deque.len(1), 0);
            deque.push(number(8));
            assert_eq!(deque.pop(|_| true), Some(number(8)));
        }
    }

    #[test]
    fn kmpc_deque_gives_each_task_to_one() {
        const ALL: usize = 40_000;
        let deque = Deque::<u8>::default();
        let taken: Vec<AtomicUsize> = (0..=ALL).map(|_| AtomicUsize::new(0)).collect();
        let count = AtomicUsize::new(0);
        let take = |item: *mut u8| {
            taken[item.addr()].fetch_add(1, Ordering::Relaxed);
            count.fetch_add(1, Ordering::Relaxed);
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while count.load(Ordering::Relaxed) < ALL {
                        if let Steal::Taken(item) = deque.steal(|_| true) {
                            take(item);
                        } else {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            for n in 1..=ALL {
                // SAFETY: this thread owns it.
                unsafe {
                    deque.push(number(n));
                    if n % 3 == 0
                        && let Some(item) = deque.pop(|_| true)
                    {
                        take(item);
                    }
                }
            }
            // SAFETY: as above.
            while let Some(item) = unsafe { deque.pop(|_| true) } {
                take(item);
            }
        });
        assert!(taken[1..].iter().all(|t| t.load(Ordering::Relaxed) == 1));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::cell::UnsafeCell as Tracked;
    use loom::sync::Arc;

    /// What a task says, written before it is pushed; loom reports a race.
    struct Item(Tracked<u32>);

    struct Shared {
        deque: Deque<Item>,
        items: Vec<Item>,
        taken: Vec<AtomicU64>,
    }
    // SAFETY: the deque under test orders the accesses; loom checks that it does.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}

    impl Shared {
        fn push(&self, n: usize) {
            // SAFETY: only who pushes n writes it; loom checks it.
            self.items[n].0.with_mut(|p| unsafe { *p = n as u32 + 1 });
            // SAFETY: called by the owner.
            unsafe {
                self.deque
                    .push(std::ptr::from_ref(&self.items[n]).cast_mut())
            };
        }

        fn take(&self, item: *mut Item) {
            // SAFETY: items live as long as the deque; loom checks the access.
            let n = unsafe { &*item }.0.with(|p| unsafe { *p }) as usize - 1;
            self.taken[n].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn check(count: usize, owner: fn(&Shared), thieves: usize) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let shared = Arc::new(Shared {
                deque: Deque::default(),
                items: (0..count).map(|_| Item(Tracked::new(0))).collect(),
                taken: (0..count).map(|_| AtomicU64::new(0)).collect(),
            });
            let others: Vec<_> = (0..thieves)
                .map(|_| {
                    let shared = shared.clone();
                    loom::thread::spawn(move || {
                        if let Steal::Taken(item) = shared.deque.steal(|_| true) {
                            shared.take(item);
                        }
                    })
                })
                .collect();
            owner(&shared);
            for other in others {
                other.join().unwrap();
            }
            // SAFETY: the owner.
            while let Some(item) = unsafe { shared.deque.pop(|_| true) } {
                shared.take(item);
            }
            for taken in &shared.taken {
                assert_eq!(taken.load(Ordering::Relaxed), 1);
            }
        });
    }

    #[test]
    fn loom_deque_last_task_goes_to_one() {
        check(
            1,
            |shared| {
                shared.push(0);
                // SAFETY: the owner.
                if let Some(item) = unsafe { shared.deque.pop(|_| true) } {
                    shared.take(item);
                }
            },
            2,
        );
    }

    #[test]
    fn loom_deque_grows_under_a_thief() {
        check(
            3,
            |shared| {
                shared.push(0);
                shared.push(1);
                shared.push(2);
            },
            1,
        );
    }

    #[test]
    fn loom_deque_pops_while_stolen_from() {
        check(
            2,
            |shared| {
                shared.push(0);
                shared.push(1);
                for _ in 0..2 {
                    // SAFETY: the owner.
                    if let Some(item) = unsafe { shared.deque.pop(|_| true) } {
                        shared.take(item);
                    }
                }
            },
            1,
        );
    }
}
