//! A lock-free registry that signal handlers can read.
//!
//! Any thread adds and removes items, and readers take no lock: a handler that waited, or gave up
//! because another thread was reading, would lose its message. A count of readers ensures that a
//! removed item is freed only when no reader can see it.
//!
//! Nodes are reused but never freed.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The registry; meant for a `static`.
#[derive(Debug)]
pub struct Registry<T: 'static> {
    head: AtomicPtr<Node<T>>,
    readers: AtomicUsize,
}

/// A node of the list.
#[derive(Debug)]
struct Node<T: 'static> {
    item: AtomicPtr<T>,
    next: *const Node<T>,
}

/// The registration of an item, which ends when this is dropped.
#[derive(Debug)]
pub struct Registration<T: 'static> {
    list: &'static Registry<T>,
    node: *const Node<T>,
}

// SAFETY: nodes live for ever, and the item is `Send` and `Sync`.
unsafe impl<T: Send + Sync> Send for Registration<T> {}
// SAFETY: nodes live for ever, and the item is `Send` and `Sync`.
unsafe impl<T: Send + Sync> Sync for Registration<T> {}

impl<T: Send + Sync> Default for Registry<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send + Sync> Registry<T> {
    /// Makes an empty registry.
    pub const fn new() -> Self {
        Registry {
            head: AtomicPtr::new(ptr::null_mut()),
            readers: AtomicUsize::new(0),
        }
    }

    /// Adds an item.
    pub fn add(&'static self, item: T) -> Registration<T> {
        let item = Box::into_raw(Box::new(item));
        // An empty node is reused first.
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
                return Registration {
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
        Registration {
            list: self,
            node: place,
        }
    }

    /// Calls `ask` for each item until it returns a value.
    pub fn find<R>(&self, mut ask: impl FnMut(&T) -> Option<R>) -> Option<R> {
        self.readers.fetch_add(1, Ordering::SeqCst);
        let mut found = None;
        let mut node = self.head.load(Ordering::SeqCst).cast_const();
        // SAFETY: nodes live for ever, items at least as long as there are readers.
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

impl<T> Drop for Registration<T> {
    fn drop(&mut self) {
        // SAFETY: nodes live for ever; the item was a box, and every reader that could have found
        // it is waited for.
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
        let list: &Registry<u32> = Box::leak(Box::new(Registry::new()));
        let get = |n| list.find(|&i| (i == n).then_some(i));
        let one = list.add(1);
        let two = list.add(2);
        assert_eq!((get(1), get(2), get(3)), (Some(1), Some(2), None));
        drop(one);
        assert_eq!((get(1), get(2)), (None, Some(2)));
        let three = list.add(3);
        assert_eq!((get(2), get(3)), (Some(2), Some(3)));
        drop((two, three));
        assert_eq!((get(2), get(3)), (None, None));
    }
}
