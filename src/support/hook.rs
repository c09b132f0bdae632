//! A function that an upper layer registers with a lower one.
//!
//! A lower layer cannot name what is above it. It declares a hook, which the layer that knows more
//! sets before the first use. Reading a hook takes one load and no lock, so signal handlers may. A
//! hook holds a plain function: a closure's state would need an owner.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of type `F`, or none yet. [`hook!`](crate::hook!) makes one.
pub struct Hook<F> {
    function: AtomicPtr<()>,
    kind: PhantomData<F>,
}

impl<F: Copy> Hook<F> {
    /// Returns a hook without a function; called by [`hook!`](crate::hook!), which checks the type.
    ///
    /// # Safety
    /// `F` is a type of function pointers, or at least of addresses.
    pub const unsafe fn new() -> Hook<F> {
        const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
        Hook {
            function: AtomicPtr::new(null_mut()),
            kind: PhantomData,
        }
    }

    /// Registers the function; what the caller wrote before is visible to whoever gets it.
    pub fn set(&self, function: F) {
        // SAFETY: `F` is a type of function pointers (contract of `new`), of this size.
        let address = unsafe { std::mem::transmute_copy::<F, *mut ()>(&function) };
        self.function.store(address, Ordering::Release);
    }

    /// Removes the function. Threads that got it before may still call it.
    pub fn clear(&self) {
        self.function.store(null_mut(), Ordering::Release);
    }

    /// Returns the function, if one is registered.
    #[inline]
    pub fn get(&self) -> Option<F> {
        let address = self.function.load(Ordering::Acquire);
        if address.is_null() {
            return None;
        }
        // SAFETY: only `set` stores another address than null, that of a function of type `F`.
        Some(unsafe { std::mem::transmute_copy::<*mut (), F>(&address) })
    }
}

impl<F: Copy> fmt::Debug for Hook<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = !self.function.load(Ordering::Relaxed).is_null();
        f.debug_struct("Hook").field("set", &set).finish()
    }
}

/// Makes an empty [`Hook`] for a type of function pointers:
/// `static ON_START: Hook<fn(u32)> = hook!(fn(u32));`
#[macro_export]
macro_rules! hook {
    ($function:ty) => {{
        // Compiles for pointers and numbers only, which have no bytes that are not initialized.
        const _: fn($function) -> *const () = |function| function as *const ();
        // SAFETY: the cast above takes addresses only, and `new` checks the size.
        unsafe { $crate::hook::Hook::<$function>::new() }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_gives_the_function_that_was_set_last() {
        let length: Hook<for<'a> fn(&'a str) -> usize> = hook!(for<'a> fn(&'a str) -> usize);
        assert!(length.get().is_none());
        length.set(str::len);
        assert_eq!(length.get().map(|f| f("four")), Some(4));
        length.set(|text| text.len() * 2);
        assert_eq!(length.get().map(|f| f("four")), Some(8));
        assert_eq!(format!("{length:?}"), "Hook { set: true }");
        length.clear();
        assert!(length.get().is_none());
    }
}
