//! Work-stealing deque of a member's ready tasks: the owner pushes and pops at the bottom, thieves
//! take from the top (Chase and Lev's deque, with the orderings of Le, Pop, Cohen and Zappa
//! Nardelli).
//!
//! This is not `crossbeam::deque`, because a thief must know if it may execute a task *before* it
//! takes it (the scheduling constraint of tied tasks): [`Deque::steal`] passes the task at the top
//! to a filter, and takes it only if no other thread took it meanwhile. The filter may read a task
//! that another thread has taken. So tasks lie in memory that always holds a task (`memory.rs`),
//! and the filter's result for such a task is discarded.
//!
//! The deque grows without bound; callers that want a bound check [`Deque::len`] first. Outgrown
//! buffers are kept until the deque is dropped, since a thief may still read them. README.md
//! specifies the protocol.

use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;

use crossbeam::utils::CachePadded;

use ompvm_support::sync::{AtomicPtr, AtomicU64, Ordering, fence, publish};

/// Capacity of the first buffer.
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

/// State that the owner alone uses.
struct OwnerState<T> {
    /// The top as last seen, which is a lower bound of the true one.
    top: Cell<u64>,
    /// Outgrown buffers.
    old: UnsafeCell<Vec<*mut Buffer<T>>>,
}

/// Result of an attempt to steal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steal<T> {
    /// The deque was empty.
    Empty,
    /// Another thread took the task; there may be more.
    Lost,
    /// The filter refused the task at the top.
    Refused,
    /// The task was taken.
    Taken(*mut T),
}

/// A work-stealing deque of pointers.
pub struct Deque<T> {
    /// Index of the next task that thieves take.
    top: CachePadded<AtomicU64>,
    /// Index one past the task pushed last; written by the owner.
    bottom: CachePadded<AtomicU64>,
    buffer: AtomicPtr<Buffer<T>>,
    owner: OwnerState<T>,
}

// SAFETY: only the owner accesses `owner`; the rest is atomic.
unsafe impl<T: Send> Sync for Deque<T> {}
// SAFETY: no field is bound to a thread.
unsafe impl<T: Send> Send for Deque<T> {}

impl<T> Default for Deque<T> {
    fn default() -> Self {
        Self {
            top: CachePadded::new(AtomicU64::new(0)),
            bottom: CachePadded::new(AtomicU64::new(0)),
            buffer: AtomicPtr::new(null_mut()),
            owner: OwnerState {
                top: Cell::new(0),
                old: UnsafeCell::new(Vec::new()),
            },
        }
    }
}

impl<T> Deque<T> {
    /// Returns an upper bound of the number of tasks, refreshed if it reaches `limit`.
    ///
    /// # Safety
    /// Only the owner may call it.
    #[inline(always)]
    pub unsafe fn len(&self, limit: u64) -> u64 {
        // Relaxed: written only by this thread.
        let bottom = self.bottom.load(Ordering::Relaxed);
        if bottom - self.owner.top.get() >= limit {
            // Relaxed: only a count.
            self.owner.top.set(self.top.load(Ordering::Relaxed));
        }
        bottom - self.owner.top.get()
    }

    /// Returns true if the deque seems to hold a task.
    #[inline(always)]
    pub fn seems_nonempty(&self) -> bool {
        // Relaxed: a hint for spinning threads. A thread that is about to sleep checks after a full
        // fence, and the owner has one between its push and its check for sleepers: one of the two
        // sees the other.
        self.top.load(Ordering::Relaxed) < self.bottom.load(Ordering::Relaxed)
    }

    /// Returns true if `accepts` accepts the task at the top. It may be passed a task that was
    /// already taken.
    pub fn offers(&self, accepts: impl FnOnce(*mut T) -> bool) -> bool {
        // Acquire, three times: as in `steal`.
        let top = self.top.load(Ordering::Acquire);
        if top >= self.bottom.load(Ordering::Acquire) {
            return false;
        }
        // SAFETY: a task was pushed, so there is a buffer; outgrown ones are kept.
        let buffer = unsafe { &*self.buffer.load(Ordering::Acquire) };
        accepts(buffer.place(top).load(Ordering::Relaxed))
    }

    /// Adds a task, and orders that before every later load of this thread (`publish`).
    ///
    /// # Safety
    /// Only the owner may call it.
    #[inline]
    pub unsafe fn push(&self, item: *mut T) {
        // Relaxed: written only by this thread.
        let bottom = self.bottom.load(Ordering::Relaxed);
        let mut buffer = self.buffer.load(Ordering::Relaxed);
        // SAFETY: null, or the owner's current buffer, which lives as long as the deque.
        let room = unsafe { buffer.as_ref() }.map_or(0, |b| b.places.len() as u64);
        if bottom - self.owner.top.get() >= room {
            // SAFETY: only the owner calls `push` (caller's contract).
            buffer = unsafe { self.make_room(bottom, buffer) };
        }
        // SAFETY: not null after `make_room`. Relaxed: published with the bottom.
        unsafe { &*buffer }
            .place(bottom)
            .store(item, Ordering::Relaxed);
        publish(&self.bottom, bottom + 1);
    }

    /// Reads the true top, and doubles the buffer if it is full.
    ///
    /// # Safety
    /// Only the owner may call it.
    #[cold]
    unsafe fn make_room(&self, bottom: u64, buffer: *mut Buffer<T>) -> *mut Buffer<T> {
        // Acquire: a thief that advanced the top has read its element, which may be overwritten.
        let top = self.top.load(Ordering::Acquire);
        self.owner.top.set(top);
        // SAFETY: null, or the owner's current buffer, which lives as long as the deque.
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
            // Relaxed: written only by this thread, published by the Release below.
            let item = full.place(index).load(Ordering::Relaxed);
            // SAFETY: created above.
            unsafe { &*grown }
                .place(index)
                .store(item, Ordering::Relaxed);
        }
        // SAFETY: only the owner accesses the list.
        unsafe { &mut *self.owner.old.get() }.push(buffer);
        self.buffer.store(grown, Ordering::Release);
        grown
    }

    /// Takes the task pushed last, if `accepts` accepts it.
    ///
    /// # Safety
    /// Only the owner may call it.
    #[inline]
    pub unsafe fn pop(&self, accepts: impl FnOnce(*mut T) -> bool) -> Option<*mut T> {
        // Relaxed: written only by this thread.
        let bottom = self.bottom.load(Ordering::Relaxed);
        if bottom == self.owner.top.get() {
            return None;
        }
        let last = bottom - 1;
        // SAFETY: the deque is not empty as the owner sees it, so a task was pushed and there is a
        // buffer.
        let buffer = unsafe { &*self.buffer.load(Ordering::Relaxed) };
        let item = buffer.place(last).load(Ordering::Relaxed);
        if !accepts(item) {
            return None;
        }
        // The bottom is lowered before the top is read, and a thief reads the bottom after the top:
        // of owner and thief at the last task at least one sees the other (both have a fence).
        #[cfg(all(not(loom), target_arch = "x86_64"))]
        self.bottom.swap(last, Ordering::SeqCst);
        #[cfg(any(loom, not(target_arch = "x86_64")))]
        {
            self.bottom.store(last, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
        let top = self.top.load(Ordering::Relaxed);
        self.owner.top.set(top);
        if top < last {
            return Some(item);
        }
        let mut won = false;
        if top == last {
            // SeqCst: decides between the owner and the thieves that saw the old bottom.
            won = self
                .top
                .compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok();
            self.owner.top.set(top + 1);
        }
        // The deque is empty now, at the index that was taken last.
        self.bottom.store(bottom, Ordering::Relaxed);
        if top > last {
            self.owner.top.set(bottom);
        }
        won.then_some(item)
    }

    /// Takes the oldest task, if `accepts` accepts it.
    ///
    /// `accepts` may be passed a task that was already taken; its result has no effect then.
    #[inline]
    pub fn steal(&self, accepts: impl FnOnce(*mut T) -> bool) -> Steal<T> {
        // Acquire, and the fence: see `pop`. On x86-64 loads are not reordered, and the owner's
        // exchange is the effective fence; the compiler must keep the order nevertheless.
        let top = self.top.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        // Acquire: the owner's writes before the push are visible.
        let bottom = self.bottom.load(Ordering::Acquire);
        if top >= bottom {
            return Steal::Empty;
        }
        // Acquire: the contents of a grown buffer are visible.
        let buffer = self.buffer.load(Ordering::Acquire);
        // SAFETY: a task was pushed, so there is a buffer; outgrown ones are kept.
        let item = unsafe { &*buffer }.place(top).load(Ordering::Relaxed);
        if !accepts(item) {
            return Steal::Refused;
        }
        // SeqCst: exactly one of all threads that saw this top takes the task. Success means that
        // the task was in the deque all the time, since the top never decreases.
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
        // SAFETY: the deque is being dropped, so no other thread uses it.
        let old = unsafe { &mut *self.owner.old.get() };
        for buffer in old.drain(..).chain((!current.is_null()).then_some(current)) {
            // SAFETY: `Buffer::new` boxed it, and it is dropped once.
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
        // SAFETY: this thread owns the deque.
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
                // SAFETY: this thread owns the deque.
                unsafe {
                    deque.push(number(n));
                    if n % 3 == 0
                        && let Some(item) = deque.pop(|_| true)
                    {
                        take(item);
                    }
                }
            }
            // SAFETY: this thread owns the deque.
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

    /// Contents of a task, written before it is pushed; loom reports a race.
    struct Item(Tracked<u32>);

    struct Shared {
        deque: Deque<Item>,
        items: Vec<Item>,
        taken: Vec<AtomicU64>,
    }
    // SAFETY: the deque under test orders the accesses; loom checks that it does.
    unsafe impl Sync for Shared {}
    // SAFETY: no field is bound to a thread.
    unsafe impl Send for Shared {}

    impl Shared {
        fn push(&self, n: usize) {
            // SAFETY: only the thread that pushes `n` writes it; loom checks it.
            self.items[n].0.with_mut(|p| unsafe { *p = n as u32 + 1 });
            // SAFETY: the owner calls this.
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
            // SAFETY: this thread owns the deque.
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
                // SAFETY: this thread owns the deque.
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
                    // SAFETY: this thread owns the deque.
                    if let Some(item) = unsafe { shared.deque.pop(|_| true) } {
                        shared.take(item);
                    }
                }
            },
            1,
        );
    }
}
