//! A list that signal handlers read.
//!
//! What: items are put in and taken out by any thread, and looked at without a lock: a handler
//! that waited, or gave up because another thread was reading, would lose its message. Why a
//! count of readers: what is taken out is freed only when nobody can be looking at it.
//!
//! What not: places in the list are used again but never given back.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The list; meant for a `static`.
#[derive(Debug)]
pub struct Seen<T: 'static> {
    head: AtomicPtr<Node<T>>,
    readers: AtomicUsize,
}

/// A place in the list.
#[derive(Debug)]
struct Node<T: 'static> {
    item: AtomicPtr<T>,
    next: *const Node<T>,
}

/// An item that is in the list as long as this lives.
#[derive(Debug)]
pub struct Listed<T: 'static> {
    list: &'static Seen<T>,
    node: *const Node<T>,
}

// SAFETY: nodes live for ever, and items may go from thread to thread.
unsafe impl<T: Send + Sync> Send for Listed<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Listed<T> {}

impl<T: Send + Sync> Default for Seen<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send + Sync> Seen<T> {
    /// An empty list.
    pub const fn new() -> Self {
        Seen {
            head: AtomicPtr::new(ptr::null_mut()),
            readers: AtomicUsize::new(0),
        }
    }

    /// Puts an item in.
    pub fn put(&'static self, item: T) -> Listed<T> {
        let item = Box::into_raw(Box::new(item));
        // An empty place is taken first.
        let mut node = self.head.load(Ordering::Acquire).cast_const();
        // SAFETY: nodes live for ever.
        while let Some(place) = unsafe { node.as_ref() } {
            let taken = place.item.compare_exchange(
                ptr::null_mut(),
                item,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if taken.is_ok() {
                return Listed {
                    list: self,
                    node: place,
                };
            }
            node = place.next;
        }
        let place = Box::leak(Box::new(Node {
            item: AtomicPtr::new(item),
            next: self.head.load(Ordering::Relaxed),
        }));
        while let Err(now) = self.head.compare_exchange_weak(
            place.next.cast_mut(),
            place,
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            place.next = now;
        }
        Listed {
            list: self,
            node: place,
        }
    }

    /// Asks each item until one answers.
    pub fn find<R>(&self, mut ask: impl FnMut(&T) -> Option<R>) -> Option<R> {
        self.readers.fetch_add(1, Ordering::SeqCst);
        let mut found = None;
        let mut node = self.head.load(Ordering::SeqCst).cast_const();
        // SAFETY: nodes live for ever, items while there are readers.
        unsafe {
            while let Some(place) = node.as_ref()
                && found.is_none()
            {
                let item = place.item.load(Ordering::SeqCst);
                found = item.as_ref().and_then(&mut ask);
                node = place.next;
            }
        }
        self.readers.fetch_sub(1, Ordering::SeqCst);
        found
    }
}

impl<T> Drop for Listed<T> {
    fn drop(&mut self) {
        // SAFETY: nodes live for ever; the item was a box, and whoever could have found it before
        // it went is a reader that is waited for.
        unsafe {
            let item = (*self.node).item.swap(ptr::null_mut(), Ordering::SeqCst);
            while self.list.readers.load(Ordering::SeqCst) != 0 {
                std::thread::yield_now();
            }
            drop(Box::from_raw(item));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_until_they_are_taken_out() {
        static LIST: Seen<u32> = Seen::new();
        let get = |n| LIST.find(|&i| (i == n).then_some(i));
        let one = LIST.put(1);
        let two = LIST.put(2);
        assert_eq!((get(1), get(2), get(3)), (Some(1), Some(2), None));
        drop(one);
        assert_eq!((get(1), get(2)), (None, Some(2)));
        let three = LIST.put(3);
        assert_eq!((get(2), get(3)), (Some(2), Some(3)));
        drop((two, three));
        assert_eq!((get(2), get(3)), (None, None));
    }
}
