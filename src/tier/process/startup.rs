//! The start of a program up to main: ifuncs, constructors, and destructors for its end.
//!
//! Constructors run in the order of an executable: those of native members that precede the guest's,
//! the guest's, those of assembly, and the other members'. Destructors of the guest run before those
//! of its members.
//!
//! Placing the module and starting the tiers comes before, in [`Process::start`].

use super::Process;
use super::exits::Handler;
use ompvm_support::fp_env;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// A constructor, or any form of main: each may be called with three arguments (psABI).
pub(super) type Main = extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

unsafe extern "C" {
    pub(super) static mut environ: *mut *mut c_char;
    fn __cxa_atexit(
        f: extern "C-unwind" fn(*mut c_void),
        arg: *mut c_void,
        dso: *mut c_void,
    ) -> c_int;
}

impl Process {
    /// Asks the resolvers of ifuncs for their functions.
    pub(super) fn resolve_ifuncs(&self) {
        for (id, ifunc) in &self.image.module.ifuncs {
            let resolver = self.image.eval(ifunc.resolver) as usize;
            // SAFETY: the module declares the function as an ifunc resolver, which takes nothing
            // and returns an address.
            let f =
                unsafe { std::mem::transmute::<usize, extern "C-unwind" fn() -> usize>(resolver) };
            self.image.set_ifunc(id, f());
        }
    }

    /// Runs the constructors of the guest and of its native members.
    pub(super) fn run_constructors(&self) {
        if self.native {
            // Floating-point exceptions of our own start are not the program's.
            fp_env::forget_exceptions();
        }
        let natives = self.linked.environment.natives.as_ref();
        let guest = self.image.module.ctors.iter();
        let guest = guest.map(|c| self.image.eval(c.func) as usize);
        let assembly = self.linked.environment.assembly.as_ref();
        let own = assembly.map_or(Vec::new(), |a| a.listed(".init_array"));
        let before = natives.map_or(&[][..], |n| n.before());
        let after = natives.map_or(&[][..], |n| n.after());
        for address in before
            .iter()
            .copied()
            .chain(guest)
            .chain(own)
            .chain(after.iter().copied())
        {
            // SAFETY: the addresses are constructors. glibc gives them main's arguments; those that
            // take none ignore them.
            unsafe {
                let f = std::mem::transmute::<usize, Main>(address);
                f(self.argv.count(), self.argv.as_ptr(), environ);
            }
        }
    }

    /// Registers the destructors of the guest and of its native members as exit handlers.
    pub(super) fn register_destructors(&self) {
        let natives = self.linked.environment.natives.as_ref();
        let guest = self.image.module.dtors.iter().rev();
        let guest = guest.map(|d| self.image.eval(d.func) as usize);
        // The handler registered last runs first: the members' destructors run after the guest's.
        let mut members: Vec<usize> = natives.map_or(Vec::new(), |n| n.destructors().collect());
        members.reverse();
        for address in members.into_iter().chain(guest) {
            // SAFETY: the addresses are destructors, which take nothing and ignore the argument.
            unsafe {
                let run = std::mem::transmute::<usize, extern "C-unwind" fn(*mut c_void)>(address);
                if self.native {
                    __cxa_atexit(run, ptr::null_mut(), ptr::null_mut());
                } else {
                    self.handlers.0.lock().push(Handler { run, arg: 0 });
                }
            }
        }
    }
}
