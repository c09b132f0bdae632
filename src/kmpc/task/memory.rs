//! Memory of tasks: blocks that a thread hands out and takes back.
//!
//! A block holds a [`Task`] until the process ends: it is neither returned to the system nor split
//! or merged. So a thief may look at a task that another thread has taken (`deque.rs`), and a late
//! look at a task's waiter finds a number, not a fault. Tasks too large for a block have their
//! payload in separate memory.
//!
//! A pool belongs to one thread at a time. A thread that frees another pool's block collects up to
//! [`BATCH`] of them and returns them with one exchange. So if one thread creates all tasks and
//! others execute them, that costs one contended access per batch. Pools outlive their threads and
//! pass to the next thread.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use crossbeam::utils::CachePadded;

use super::{HEADER, Payload, Task};
use crate::runtime::RUNTIME;
use ompvm_support::message::{Kind, Message};
use ompvm_support::sync::{self, MutexGuard};

/// Sizes of blocks in bytes, header included.
const SIZES: [usize; 3] = [256, 512, 2048];
/// Size in bytes of the slabs that are taken from the system.
const SLAB: usize = 64 << 10;
/// Maximum number of foreign blocks collected before they are returned.
const BATCH: u32 = 32;

/// Pool of blocks of one thread.
pub struct Blocks {
    free: [Cell<*mut Task>; SIZES.len()],
    /// The slab being cut: its next block and its end.
    slab: Cell<(*mut u8, *mut u8)>,
    /// Blocks of another pool, to be returned together: the first, the last, and their number.
    foreign: Cell<(*mut Task, *mut Task, u32)>,
    /// Blocks that other threads returned.
    returned: CachePadded<AtomicPtr<Task>>,
}

// SAFETY: only the owner accesses fields other than `returned`; ownership passes under the lock of
// the unowned pools.
unsafe impl Sync for Blocks {}

/// Locks the list of unowned pools, also for the time in which the process forks.
pub fn lock_spare_pools() -> MutexGuard<'static, Vec<&'static Blocks>> {
    sync::lock(&RUNTIME.tasks.spare_pools)
}

impl Blocks {
    /// Returns a pool for the calling thread.
    pub fn take() -> &'static Self {
        let spare = lock_spare_pools().pop();
        spare.unwrap_or_else(|| {
            Box::leak(Box::new(Self {
                free: Default::default(),
                slab: Cell::new((null_mut(), null_mut())),
                foreign: Cell::new((null_mut(), null_mut(), 0)),
                returned: CachePadded::new(AtomicPtr::new(null_mut())),
            }))
        })
    }

    /// Releases the pool for another thread.
    pub fn leave(&'static self) {
        self.flush();
        lock_spare_pools().push(self);
    }

    /// Returns a task with room for `bytes` of payload; only pool, class and payload are set.
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
        // SAFETY: `block` returned a block of this pool with room for the payload.
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
        // SAFETY: the list holds free blocks of this pool.
        list.set(unsafe { (*task).next.get() });
        task
    }

    #[cold]
    fn refill(&'static self, class: usize) -> *mut Task {
        // Acquire: the returning threads' uses of the blocks are over.
        let mut returned = self.returned.swap(null_mut(), Ordering::Acquire);
        while !returned.is_null() {
            // SAFETY: free blocks of this pool, linked by the threads that returned them.
            let task = unsafe { &*returned };
            let next = task.next.get();
            task.next.set(self.free[task.class.get() as usize].get());
            self.free[task.class.get() as usize].set(returned);
            returned = next;
        }
        let list = &self.free[class];
        let task = list.get();
        if !task.is_null() {
            // SAFETY: the list holds free blocks of this pool.
            list.set(unsafe { (*task).next.get() });
            return task;
        }
        let (mut at, mut end) = self.slab.get();
        if (end.addr() - at.addr()) < SIZES[class] {
            let layout = slab_layout();
            // SAFETY: the layout is not empty.
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
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        let payload = memory.wrapping_add(64);
        // SAFETY: the 64 bytes before the payload have room for the word that names its task.
        unsafe {
            payload.cast::<*mut Task>().sub(1).write(task);
            (*task).payload.set(payload.cast::<Payload>());
            (*task).bytes.set(bytes);
        }
        task
    }

    /// Takes a block back; `self` is the calling thread's pool.
    ///
    /// # Safety
    /// The task is complete and nothing refers to it.
    #[inline(always)]
    pub unsafe fn put(&self, task: *mut Task) {
        // SAFETY: memory that always holds a task.
        let t = unsafe { &*task };
        if HEADER + t.bytes.get() > SIZES[SIZES.len() - 1] {
            let layout = apart_layout(t.bytes.get());
            // SAFETY: `get_apart` allocated payloads of this size so, and the task is complete.
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

    #[inline(never)]
    fn put_foreign(&self, task: *mut Task) {
        let (first, last, count) = self.foreign.get();
        // SAFETY: a free block that this thread holds, and the first of those collected.
        let same = count > 0 && unsafe { std::ptr::eq((*first).pool, (*task).pool) };
        if !same || count >= BATCH {
            self.flush();
            // SAFETY: a free block that this thread holds.
            unsafe { (*task).next.set(null_mut()) };
            self.foreign.set((task, task, 1));
        } else {
            // SAFETY: a free block that this thread holds.
            unsafe { (*task).next.set(first) };
            self.foreign.set((task, last, count + 1));
        }
    }

    fn flush(&self) {
        let (first, last, count) = self.foreign.replace((null_mut(), null_mut(), 0));
        if count == 0 {
            return;
        }
        // SAFETY: pools are never freed; the blocks belong to this thread until the exchange
        // succeeds.
        let (last, returned) = unsafe { (&*last, &(*(*first).pool).returned) };
        let mut head = returned.load(Ordering::Relaxed);
        loop {
            last.next.set(head);
            // Release: the owner sees this thread's last uses of the blocks, and their links.
            match returned.compare_exchange_weak(head, first, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Like [`Blocks::put`], for a thread that the runtime does not know.
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
        // SAFETY: the task is complete and unreferenced (caller's contract); no task belongs to the
        // temporary pool, so it keeps no block.
        unsafe { visitor.put(task) };
        visitor.flush();
    }
}

fn slab_layout() -> Layout {
    // SAFETY: the alignment is a power of two, and the size is far from overflow.
    unsafe { Layout::from_size_align_unchecked(SLAB, 64) }
}

/// Returns the layout of a payload with its 64 bytes in front. Ends the program if no layout has
/// that size.
fn apart_layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.saturating_add(64), 64).unwrap_or_else(|_| {
        let text = format_args!("a task of {bytes} bytes cannot be allocated");
        Message::new(Kind::GuestResources, &text)
            .signal(libc::SIGABRT)
            .print();
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
        // SAFETY: each task is put back once after each `get`.
        unsafe {
            let payload = (*large).payload.get();
            payload.cast::<u8>().add(99_999).write(1);
            assert_eq!(Task::from_payload(payload), large);
            assert_eq!(Task::from_payload((*small).payload.get()), small);
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
