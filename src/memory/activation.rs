//! One run of the interpreter's dispatch loop entered from native code, and its unusual exits:
//! a native exception passing through, and a longjmp across native frames.
//!
//! [`enter`] is a small assembly frame with a personality routine of ours (Itanium C++ ABI,
//! "Exception Handling", level I). In the search phase it asks a hook whether the activation's
//! interpreter frames handle the exception; in the cleanup phase it always lands, so that the
//! interpreter can run cleanups and restore its state, and goes on with [`resume_unwind`]. So no
//! call of a native function needs a boundary of its own.
//!
//! What not: it does not know landing pads; the interpreter does.

use super::abi;
use super::thread::ThreadState;
use crate::support::error::TrapKind;
use std::ffi::c_void;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One activation. Lives in the native frame of whoever calls [`enter`].
#[repr(C)]
#[derive(Debug)]
pub struct Activation {
    /// Frame pointer of `enter`'s assembly frame, valid while inside; set by `enter`.
    saved_frame: usize,
    /// The activation further out on this thread.
    pub prev: *mut Activation,
    /// The innermost interpreter frame, kept up to date by the interpreter.
    pub frame: *mut u8,
    /// The exception that `enter` returned with.
    pub exception: *mut c_void,
    /// A fault of the guest comes back here as [`Exit::Trapped`] instead of ending the process.
    pub catch_traps: bool,
    /// The guest's stack pointer at the entry, restored by [`Activation::pop`].
    pub entry_sp: *mut u8,
    /// The limit of the guest's stack inside, for those that come back by a jump.
    pub limit: *mut u8,
    /// The limit at the entry.
    entry_limit: *mut u8,
    /// Bytecode position saved in the thread state at the entry, restored likewise.
    pub entry_ip: *const u64,
    /// The fault that came back here.
    pub trap: Option<RawTrap>,
    /// Free for the interpreter.
    pub interp: [usize; 4],
}

/// A fault before its place is named.
#[derive(Clone, Copy, Debug)]
pub struct RawTrap {
    /// What happened.
    pub kind: TrapKind,
    /// The bytecode position, null when unknown.
    pub ip: *const u64,
    /// The `_Unwind_Exception` that nobody caught, when that is what happened; else 0.
    pub exception: usize,
}

/// How an activation ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Exit {
    /// The function returned this.
    Returned(usize),
    /// This `_Unwind_Exception` is passing through.
    Unwound(*mut c_void),
    /// [`jump`] came here with this value.
    Jumped(usize),
    /// The guest faulted and the activation catches traps: see [`Activation::trap`].
    Trapped,
}

/// What the interpreter frames of an activation do about an exception.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// One of them catches it.
    Handler,
    /// They only clean up.
    Cleanup,
    /// They do nothing.
    Nothing,
}

impl Default for Activation {
    fn default() -> Self {
        Activation {
            saved_frame: 0,
            prev: ptr::null_mut(),
            frame: ptr::null_mut(),
            exception: ptr::null_mut(),
            catch_traps: false,
            entry_sp: ptr::null_mut(),
            limit: ptr::null_mut(),
            entry_limit: ptr::null_mut(),
            entry_ip: ptr::null(),
            trap: None,
            interp: [0; 4],
        }
    }
}

impl Activation {
    /// Makes this the thread's innermost activation and notes the state to restore.
    ///
    /// # Safety
    /// `state` is this thread's; `self` stays in place until [`Activation::pop`].
    #[inline]
    pub unsafe fn push(&mut self, state: *mut ThreadState) {
        // SAFETY: the state is this thread's and alive.
        unsafe {
            self.prev = (*state).activation;
            self.entry_sp = (*state).sp;
            self.limit = (*state).limit;
            self.entry_limit = (*state).limit;
            self.entry_ip = (*state).ip;
            (*state).activation = self;
        }
    }

    /// Undoes [`Activation::push`], whatever happened further in.
    ///
    /// # Safety
    /// As for `push`, on the same thread.
    #[inline]
    pub unsafe fn pop(&mut self, state: *mut ThreadState) {
        // SAFETY: the state is this thread's and alive.
        unsafe {
            (*state).activation = self.prev;
            (*state).sp = self.entry_sp;
            (*state).limit = self.entry_limit;
            (*state).ip = self.entry_ip;
        }
    }
}

/// Calls `f(a, b)` so that exceptions, jumps and faults inside it come back as values.
///
/// # Safety
/// `f` must be sound to leave by unwinding or by a jump: every frame between it and whatever
/// leaves must have no destructor to run. `act` must be the thread's innermost activation.
#[inline]
pub unsafe fn enter(
    act: &mut Activation,
    f: extern "C-unwind" fn(*mut c_void, usize) -> usize,
    a: *mut c_void,
    b: usize,
) -> Exit {
    // SAFETY: the assembly follows the calling convention; see the caller's promise.
    let out = unsafe { abi::raw_enter((&raw mut *act).cast(), f, a, b) };
    match out.kind {
        0 => Exit::Returned(out.value),
        1 => {
            let exception = ptr::with_exposed_provenance_mut(out.value);
            act.exception = exception;
            Exit::Unwound(exception)
        }
        2 => Exit::Jumped(out.value),
        _ => Exit::Trapped,
    }
}

/// Leaves everything inside an activation of this thread: its `enter` returns `Jumped(value)`.
///
/// # Safety
/// The activation is live on this thread, and the native frames in between may be dropped, as
/// with `longjmp`.
pub unsafe fn jump(act: *const Activation, value: usize) -> ! {
    // SAFETY: see the caller's promise.
    unsafe { abi::raw_jump(act.cast(), value, 2) }
}

/// Leaves everything inside an activation that catches traps: its `enter` returns `Trapped`.
///
/// # Safety
/// As for [`jump`].
#[cfg(feature = "vm")]
pub(super) unsafe fn jump_trapped(act: *mut Activation, trap: RawTrap) -> ! {
    // SAFETY: see the caller's promise.
    unsafe {
        (*act).trap = Some(trap);
        abi::raw_jump(act.cast(), 0, 3)
    }
}

/// Calls `f` as if the stack ended here: an exception that nothing inside catches is uncaught,
/// so that `__cxa_throw` calls `std::terminate` with nothing unwound, and a thread that leaves by
/// `pthread_exit` or cancellation ends here. Frames of Rust further out would claim the one and
/// stop the other. A panic cannot leave `f` either: it ends the process.
pub fn at_bottom<F: FnOnce()>(f: F) {
    extern "C-unwind" fn go<F: FnOnce()>(f: *mut c_void) {
        // SAFETY: the address of the option below.
        if let Some(f) = unsafe { (*f.cast::<Option<F>>()).take() } {
            f();
        }
    }
    let mut f = Some(f);
    // SAFETY: `go` takes what it is given, and `f` outlives the call.
    unsafe { abi::raw_bottom(go::<F>, (&raw mut f).cast()) }
}

unsafe extern "C-unwind" {
    fn _Unwind_Resume(exception: *mut c_void) -> !;
}

unsafe extern "C" {
    fn _Unwind_GetGR(context: *mut c_void, index: i32) -> usize;
    fn _Unwind_SetGR(context: *mut c_void, index: i32, value: usize);
    fn _Unwind_SetIP(context: *mut c_void, value: usize);
}

/// Goes on unwinding above an activation whose `enter` returned `Unwound` and that is popped.
///
/// # Safety
/// `exception` is what `enter` gave, not yet caught or deleted.
pub unsafe fn resume_unwind(exception: *mut c_void) -> ! {
    // SAFETY: see the caller's promise.
    unsafe { _Unwind_Resume(exception) }
}

/// The hook asked in the search phase.
pub type SearchHook = fn(&Activation, exception: *mut c_void) -> Search;

static SEARCH: AtomicUsize = AtomicUsize::new(0);

/// Registers what answers the search phase; without one, activations handle nothing.
pub fn set_search_hook(hook: SearchHook) {
    SEARCH.store(hook as usize, Ordering::Release);
}

const SEARCH_PHASE: i32 = 1;
const END_OF_STACK: i32 = 5;
const HANDLER_FOUND: i32 = 6;
/// The class of Rust's own panics, which may pass through guest frames.
const RUST: u64 = u64::from_be_bytes(*b"MOZ\0RUST");
const INSTALL_CONTEXT: i32 = 7;
const CONTINUE_UNWIND: i32 = 8;

/// The personality routine of `enter`'s frame (Itanium C++ ABI: `__personality_routine`).
pub(super) extern "C" fn personality(
    _version: i32,
    actions: i32,
    class: u64,
    exception: *mut c_void,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the unwinder calls this for `raw_enter`'s frame only, whose frame pointer leads to
    // the activation; register numbers are DWARF's for x86-64 (0 rax, 6 rbp).
    unsafe {
        if actions & SEARCH_PHASE != 0 {
            let hook = SEARCH.load(Ordering::Acquire);
            if hook == 0 {
                return CONTINUE_UNWIND;
            }
            let hook: SearchHook = mem::transmute::<usize, SearchHook>(hook);
            let frame = _Unwind_GetGR(context, abi::FRAME_REGISTER);
            let act = *((frame - abi::ACTIVATION_SLOT) as *const *const Activation);
            return match hook(&*act, exception) {
                Search::Handler => HANDLER_FOUND,
                // An embedded program ends here: what it does not catch, nobody does.
                _ if (*act).catch_traps && class != RUST => END_OF_STACK,
                Search::Cleanup | Search::Nothing => CONTINUE_UNWIND,
            };
        }
        _Unwind_SetGR(context, abi::RESULT_REGISTER, exception as usize);
        _Unwind_SetIP(context, abi::landing_address());
        INSTALL_CONTEXT
    }
}
