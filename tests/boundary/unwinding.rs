//! Exceptions and jumps that pass native frames and stop at activations.
//!
//! A foreign exception makes the tests independent of C++'s runtime. Landing pads are the
//! interpreter's.

use crate::build::Build;
use crate::entry::{hooks, place};
use ompvm::memory::activation::{self, Activation, Exit};
use ompvm::memory::thread;
use std::ffi::c_void;

#[repr(C, align(16))]
struct Exception {
    class: u64,
    cleanup: usize,
    private: [usize; 2],
    value: u64,
}

unsafe extern "C-unwind" {
    fn _Unwind_RaiseException(e: *mut Exception) -> i32;
}

/// Throws a foreign exception.
pub unsafe fn raise(value: u64) {
    let e = Box::into_raw(Box::new(Exception {
        class: u64::from_be_bytes(*b"TESTTEST"),
        cleanup: 0,
        private: [0; 2],
        value,
    }));
    let rc = unsafe { _Unwind_RaiseException(e) };
    // Without a handler, the call returns with the end of the stack.
    unsafe { drop(Box::from_raw(e)) };
    assert_eq!(rc, 5);
}

fn take(exit: Exit) -> u64 {
    let Exit::Unwound(e) = exit else {
        panic!("{exit:?}")
    };
    unsafe { Box::from_raw(e.cast::<Exception>()) }.value
}

struct Scope {
    act: Activation,
}

impl Scope {
    fn enter(
        catches: bool,
        f: extern "C-unwind" fn(*mut c_void, usize) -> usize,
        a: *mut c_void,
        b: usize,
    ) -> Exit {
        let mut s = Scope {
            act: Activation::default(),
        };
        s.act.interp[0] = usize::from(catches);
        let state = thread::current();
        unsafe {
            s.act.push(state);
            let exit = activation::call_contained(&mut s.act, f, a, b);
            s.act.pop(state);
            exit
        }
    }
}

extern "C-unwind" fn twice(_: *mut c_void, n: usize) -> usize {
    n * 2
}

extern "C-unwind" fn throw_through_qsort(stub: *mut c_void, _: usize) -> usize {
    let mut v = [3i32, 1, 2];
    unsafe {
        let f = std::mem::transmute::<
            *mut c_void,
            unsafe extern "C" fn(*const c_void, *const c_void) -> i32,
        >(stub);
        libc::bsearch(
            (&raw const v[0]).cast(),
            v.as_mut_ptr().cast(),
            3,
            4,
            Some(f),
        ) as usize
    }
}

extern "C-unwind" fn middle(stub: *mut c_void, _: usize) -> usize {
    // An activation that only cleans up: the exception lands here in phase 2 and continues.
    match Scope::enter(false, throw_through_qsort, stub, 0) {
        Exit::Unwound(e) => unsafe { activation::resume_unwind(e) },
        other => panic!("{other:?}"),
    }
}

#[test]
fn exceptions_pass_native_frames_and_stop_at_handlers() {
    hooks();
    assert_eq!(
        Scope::enter(true, twice, std::ptr::null_mut(), 21),
        Exit::Returned(42)
    );
    let mut b = Build::default();
    let (p, i32_) = (b.ptr(), b.int(32));
    let throw = b.function("throw", i32_, &[p, p], true);
    let image = place(b);
    let stub = image.func_address(throw) as *mut c_void;
    // The thrown value is the address of the key. Only its arrival matters.
    assert_ne!(take(Scope::enter(true, throw_through_qsort, stub, 0)), 0);
    assert_ne!(take(Scope::enter(true, middle, stub, 0)), 0);
    let state = thread::current();
    assert!(unsafe { (*state).activation.is_null() });
}

extern "C-unwind" fn jump_out(target: *mut c_void, value: usize) -> usize {
    extern "C" fn compare(a: *const c_void, _: *const c_void) -> i32 {
        unsafe {
            let (act, value) = *a.cast::<(*const Activation, usize)>();
            activation::jump(act, value)
        }
    }
    let v = [(target.cast::<Activation>(), value); 3];
    unsafe {
        libc::bsearch(
            v.as_ptr().cast(),
            v.as_ptr().cast(),
            3,
            size_of_val(&v[0]),
            Some(compare),
        ) as usize
    }
}

extern "C-unwind" fn inner_scope(target: *mut c_void, value: usize) -> usize {
    let exit = Scope::enter(true, jump_out, target, value);
    panic!("the jump was to the outer activation, not {exit:?}");
}

#[test]
fn jumps_cross_native_frames() {
    hooks();
    let state = thread::current();
    let mut act = Activation::default();
    unsafe {
        act.push(state);
        let target = (&raw mut act).cast();
        assert_eq!(
            activation::call_contained(&mut act, inner_scope, target, 5),
            Exit::Jumped(5)
        );
        assert_eq!(
            activation::call_contained(&mut act, jump_out, target, 6),
            Exit::Jumped(6)
        );
        act.pop(state);
        assert!((*state).activation.is_null());
    }
}
