//! Where tasks live: blocks that a thread hands out and gets back.
//!
//! A block begins with a [`Task`] for as long as the process lives: it is never given to the system, cut
//! or joined with others. So a thief may look at a task that somebody else has taken (`deque.rs`), and
//! a late look at a task's waiter finds a number, not a fault. Tasks too large for a block have their
//! payload in memory of its own.
//!
//! A pool belongs to one thread at a time. A thread that frees another pool's block collects up to
//! [`BATCH`] of them and returns them with one exchange; so a thread that creates all tasks and others
//! that execute them cost one contended access per batch. Pools outlive their threads and pass on to
//! the next thread.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use crossbeam::utils::CachePadded;

use super::{HEADER, Payload, Task};
use crate::support::sync::{self, Mutex, MutexGuard};

/// Sizes of blocks, header included.
const SIZES: [usize; 3] = [256, 512, 2048];
/// Bytes taken from the system at a time.
const SLAB: usize = 64 << 10;
/// Foreign blocks collected before they are returned.
const BATCH: u32 = 32;

/// Blocks of one thread.
pub struct Blocks {
    free: [Cell<*mut Task>; SIZES.len()],
    /// The slab being cut: the next block and the end.
    slab: Cell<(*mut u8, *mut u8)>,
    /// Blocks of another pool, to be returned together: the first, the last, and how many.
    foreign: Cell<(*mut Task, *mut Task, u32)>,
    /// Blocks that others returned.
    returned: CachePadded<AtomicPtr<Task>>,
}

// SAFETY: all but `returned` is the owner's; ownership passes under the lock of `SPARE`.
unsafe impl Sync for Blocks {}

static SPARE: Mutex<Vec<&'static Blocks>> = Mutex::new(Vec::new());

/// The pools that no thread has, held while the process forks.
pub fn hold() -> MutexGuard<'static, Vec<&'static Blocks>> {
    sync::lock(&SPARE)
}

impl Blocks {
    /// A pool for the calling thread.
    pub fn take() -> &'static Self {
        let spare = sync::lock(&SPARE).pop();
        spare.unwrap_or_else(|| {
            Box::leak(Box::new(Self {
                free: Default::default(),
                slab: Cell::new((null_mut(), null_mut())),
                foreign: Cell::new((null_mut(), null_mut(), 0)),
                returned: CachePadded::new(AtomicPtr::new(null_mut())),
            }))
        })
    }

    /// Leaves the pool to another thread.
    pub fn leave(&'static self) {
        self.flush();
        sync::lock(&SPARE).push(self);
    }

    /// A task with room for `bytes` of payload; only pool, class and payload are set.
    #[inline]
    pub fn get(&'static self, bytes: usize) -> *mut Task {
        let size = HEADER + bytes;
        let class = match size {
            0..=256 => 0,
            257..=512 => 1,
            513..=2048 => 2,
            _ => return self.get_apart(bytes),
        };
        let task = self.block(class);
        // SAFETY: a block of ours.
        unsafe {
            (*task).payload.set(task.byte_add(HEADER).cast());
            (*task).bytes.set(bytes);
        }
        task
    }

    #[inline(always)]
    fn block(&'static self, class: usize) -> *mut Task {
        let list = &self.free[class];
        let task = list.get();
        if task.is_null() {
            return self.refill(class);
        }
        // SAFETY: a free block of ours.
        list.set(unsafe { (*task).next.get() });
        task
    }

    #[cold]
    fn refill(&'static self, class: usize) -> *mut Task {
        // Acquire: what others did with the blocks is over.
        let mut returned = self.returned.swap(null_mut(), Ordering::Acquire);
        while !returned.is_null() {
            // SAFETY: free blocks of ours, linked by who returned them.
            let task = unsafe { &*returned };
            let next = task.next.get();
            task.next.set(self.free[task.class.get() as usize].get());
            self.free[task.class.get() as usize].set(returned);
            returned = next;
        }
        let list = &self.free[class];
        let task = list.get();
        if !task.is_null() {
            // SAFETY: as above.
            list.set(unsafe { (*task).next.get() });
            return task;
        }
        let (mut at, mut end) = self.slab.get();
        if (end.addr() - at.addr()) < SIZES[class] {
            let layout = slab_layout();
            // SAFETY: not empty.
            at = unsafe { alloc(layout) };
            if at.is_null() {
                handle_alloc_error(layout);
            }
            end = at.wrapping_add(SLAB);
        }
        self.slab.set((at.wrapping_add(SIZES[class]), end));
        let task = at.cast::<Task>();
        // SAFETY: fresh memory, large enough and aligned (every size is a multiple of 64).
        unsafe { task.write(Task::new(self, class as u32, task)) };
        task
    }

    #[cold]
    fn get_apart(&'static self, bytes: usize) -> *mut Task {
        let task = self.block(0);
        let layout = apart_layout(bytes);
        // SAFETY: not empty.
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        let payload = memory.wrapping_add(64);
        // SAFETY: the word before the payload names its task, in blocks too; there is room.
        unsafe {
            payload.cast::<*mut Task>().sub(1).write(task);
            (*task).payload.set(payload.cast::<Payload>());
            (*task).bytes.set(bytes);
        }
        task
    }

    /// Gives a block back; `self` is the calling thread's pool.
    ///
    /// # Safety
    /// The task is complete and nothing refers to it.
    #[inline]
    pub unsafe fn put(&self, task: *mut Task) {
        // SAFETY: the caller's contract.
        let t = unsafe { &*task };
        if HEADER + t.bytes.get() > SIZES[SIZES.len() - 1] {
            let layout = apart_layout(t.bytes.get());
            // SAFETY: allocated so by `get_apart`.
            unsafe { dealloc(t.payload.get().cast::<u8>().sub(64), layout) };
        }
        if std::ptr::eq(t.pool, self) {
            let list = &self.free[t.class.get() as usize];
            t.next.set(list.get());
            list.set(task);
        } else {
            self.put_foreign(task);
        }
    }

    #[inline]
    fn put_foreign(&self, task: *mut Task) {
        let (first, last, count) = self.foreign.get();
        // SAFETY: a free block that we hold, and the first of those collected.
        let same = count > 0 && unsafe { std::ptr::eq((*first).pool, (*task).pool) };
        if !same || count >= BATCH {
            self.flush();
            // SAFETY: as above.
            unsafe { (*task).next.set(null_mut()) };
            self.foreign.set((task, task, 1));
        } else {
            // SAFETY: as above.
            unsafe { (*task).next.set(first) };
            self.foreign.set((task, last, count + 1));
        }
    }

    fn flush(&self) {
        let (first, last, count) = self.foreign.replace((null_mut(), null_mut(), 0));
        if count == 0 {
            return;
        }
        // SAFETY: pools live for ever; the blocks are ours until the exchange succeeds.
        let (last, returned) = unsafe { (&*last, &(*(*first).pool).returned) };
        let mut head = returned.load(Ordering::Relaxed);
        loop {
            last.next.set(head);
            // Release: the owner sees our last uses of the blocks, and their links.
            match returned.compare_exchange_weak(head, first, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// As [`Blocks::put`] for a thread that the runtime does not know.
    ///
    /// # Safety
    /// As for [`Blocks::put`].
    pub unsafe fn put_from_outside(task: *mut Task) {
        let visitor = Self {
            free: Default::default(),
            slab: Cell::new((null_mut(), null_mut())),
            foreign: Cell::new((null_mut(), null_mut(), 0)),
            returned: CachePadded::new(AtomicPtr::new(null_mut())),
        };
        // SAFETY: the caller's contract; no task's pool is the visitor.
        unsafe { visitor.put(task) };
        visitor.flush();
    }
}

fn slab_layout() -> Layout {
    // SAFETY: a power of two, and far from overflow.
    unsafe { Layout::from_size_align_unchecked(SLAB, 64) }
}

/// Of a payload with its 64 bytes in front; a size that no layout has ends the program.
fn apart_layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.saturating_add(64), 64).unwrap_or_else(|_| {
        eprintln!("ompvm: a task of {bytes} bytes cannot be allocated");
        std::process::abort()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kmpc_task_blocks_come_back() {
        let pool = Blocks::take();
        let small = pool.get(40);
        let large = pool.get(100_000);
        // SAFETY: tasks of ours, each put back once.
        unsafe {
            let payload = (*large).payload.get();
            payload.cast::<u8>().add(99_999).write(1);
            assert_eq!(Task::of(payload), large);
            assert_eq!(Task::of((*small).payload.get()), small);
            pool.put(small);
            assert_eq!(pool.get(40), small);
            pool.put(small);
            pool.put(large);
            assert_eq!(pool.get(50), large);
            Blocks::put_from_outside(large);
        }
        let returned = (0..2000).any(|_| pool.get(0) == large);
        assert!(returned);
    }
}
