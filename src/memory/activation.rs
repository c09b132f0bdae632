//! One run of guest code entered from native code, and its unusual exits: a native exception
//! passing through, and a longjmp across native frames.
//!
//! [`run`] is an assembly frame on the native stack of whatever context called. The interpreter's
//! frames lie right below it, and the stack pointer lies below them, so native calls go on from
//! there. When the frames need more room, the stack pointer moves down ([`super::abi::extend`]); the frame's
//! unwinding rules find its base through a word at the stack pointer. So guest frames always lie on the
//! stack that is running: a program may switch stacks, and a collector that scans from a local
//! variable to the end of the stack finds what frames hold.
//!
//! The frame has a personality routine of ours (Itanium C++ ABI, "Exception Handling", level I). In
//! the search phase it asks a hook whether the activation's interpreter frames handle the
//! exception; in the cleanup phase it always lands, so that the interpreter can run cleanups. So
//! no call of a native function needs a boundary of its own. [`enter`] is the same without room
//! for guest frames, for what calls guest code and wants exits and faults back.
//!
//! What not: it does not know landing pads; the interpreter does.

use super::abi;
use super::thread::ThreadState;
use crate::support::error::TrapKind;
use std::ffi::c_void;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One activation. Lives in the native frame of whoever calls [`run`] or [`enter`].
#[repr(C)]
#[derive(Debug)]
pub struct Activation {
    /// Frame pointer of the assembly frame, valid while inside; set by it.
    saved_frame: usize,
    /// The native stack pointer below the guest frames of [`run`]; null in [`enter`].
    pub(super) low: *mut u8,
    /// The lowest place for slot 0 of a guest frame.
    pub limit: *mut u8,
    /// A handler for calls that find the thread's own stack used up; see [`ThreadState::further_stack`].
    pub spill: usize,
    /// Says how [`run`] goes on; set by it.
    pub(super) again: Option<Again>,
    /// Bytes by which the stack pointer is to move down, where handlers return to a loop.
    pub(super) wants: usize,
    /// The state of the thread that runs this activation.
    pub state: *mut ThreadState,
    /// The guest's stack pointer, saved before native calls.
    pub sp: *mut u8,
    /// The innermost interpreter frame, kept up to date by the interpreter.
    pub frame: *mut u8,
    /// The bytecode position, saved before anything that can leave the interpreter or fault in
    /// native code.
    pub ip: *const u64,
    /// The thread's innermost activation at the entry. After a switch of stacks it may be gone, so
    /// nothing looks into it.
    pub prev: *mut Activation,
    /// The exception that `enter` returned with.
    pub exception: *mut c_void,
    /// A fault of the guest comes back here as [`Exit::Trapped`] instead of ending the process.
    pub catch_traps: bool,
    /// The guest's stack pointer at the entry, restored by [`Activation::pop`].
    entry_sp: *mut u8,
    /// The limit at the entry.
    entry_limit: *mut u8,
    /// The catcher of traps at the entry.
    entry_catcher: *mut Activation,
    /// The fault that came back here.
    pub trap: Option<RawTrap>,
    /// Free for the interpreter.
    pub interp: [usize; 4],
    /// Free for the interpreter: what [`run`] was called for.
    pub call: *const c_void,
}

/// Why [`run`] asks how to go on.
#[repr(usize)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// It begins. The value is the end of the room for guest frames.
    Begin = 0,
    /// The exception that is the value lands here.
    Exception = 1,
    /// [`jump`] came here with the value.
    Jump = 2,
}

/// Where [`run`] goes on: an instruction and its frame. Without an instruction it returns
/// [`Exit::Unwound`] with the exception that is in the frame's place.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Onward {
    /// The instruction.
    pub ip: *const u64,
    /// The frame.
    pub regs: *mut u64,
}

/// Says how [`run`] goes on. Runs below the guest frames.
pub type Again = extern "C-unwind" fn(&mut Activation, Event, usize) -> Onward;

/// Bytes below the guest's stack pointer that nobody else uses: what native calls pass on is laid out there.
pub const MARGIN: usize = 256;

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
            low: ptr::null_mut(),
            limit: ptr::null_mut(),
            spill: 0,
            again: None,
            wants: 0,
            state: ptr::null_mut(),
            sp: ptr::null_mut(),
            frame: ptr::null_mut(),
            ip: ptr::null(),
            prev: ptr::null_mut(),
            exception: ptr::null_mut(),
            catch_traps: false,
            entry_sp: ptr::null_mut(),
            entry_limit: ptr::null_mut(),
            entry_catcher: ptr::null_mut(),
            trap: None,
            interp: [0; 4],
            call: ptr::null(),
        }
    }
}

impl Activation {
    /// The registers of the native frame that it runs in.
    #[cfg(feature = "vm")]
    pub(super) fn frame_registers(&self) -> super::walk::Registers {
        use super::walk::Registers;
        match self.low.is_null() {
            true => Registers::in_frame(abi::landing_address(), 0, self.saved_frame),
            false => {
                let landing = abi::run_landing_address();
                Registers::in_frame(landing, self.low as usize, self.saved_frame)
            }
        }
    }

    /// Makes this the thread's innermost activation and notes the state to restore.
    ///
    /// # Safety
    /// `state` is this thread's; `self` stays in place until [`Activation::pop`].
    #[inline]
    pub unsafe fn push(&mut self, state: *mut ThreadState) {
        // SAFETY: the state is this thread's and alive.
        unsafe {
            self.state = state;
            self.prev = (*state).activation;
            self.entry_sp = (*state).sp;
            self.entry_limit = (*state).limit;
            (*state).activation = self;
            if self.catch_traps {
                self.entry_catcher = std::mem::replace(&mut (*state).catcher, self);
            }
        }
    }

    /// Undoes [`Activation::push`], whatever happened further in.
    ///
    /// # Safety
    /// `state` is that of the thread that runs now, which may be another than at `push` when the
    /// program moved this stack to another thread.
    #[inline]
    pub unsafe fn pop(&mut self, state: *mut ThreadState) {
        // SAFETY: the state is this thread's and alive.
        unsafe {
            (*state).activation = self.prev;
            (*state).sp = self.entry_sp;
            (*state).limit = self.entry_limit;
            if self.catch_traps {
                (*state).catcher = self.entry_catcher;
            }
        }
    }

    /// Makes this the innermost activation of the thread that runs now; gives that thread's state.
    /// For a return from native code: it may have run other stacks meanwhile, and moved this one to
    /// another thread.
    ///
    /// # Safety
    /// The calling thread runs on this activation's stack, in this activation.
    #[inline(always)]
    pub unsafe fn resume(this: *mut Activation) -> *mut ThreadState {
        // Handlers ask nowhere else, so no address is kept from before the call.
        let state = super::thread::current_or_null();
        // SAFETY: the caller's promise; a thread that runs guest code has a state.
        unsafe {
            (*state).activation = this;
            (*state).sp = (*this).sp;
            (*state).limit = (*this).limit;
            // Handlers that return to a loop get it from there.
            #[cfg(not(ompvm_tail_calls))]
            {
                (*this).state = state;
            }
        }
        state
    }
}

/// Runs guest code with `bytes` of room (a multiple of 16) for its first frames: `again` says where it begins.
/// Returns [`Exit::Returned`] when an instruction ended the run, or [`Exit::Unwound`].
///
/// # Safety
/// `act` is the thread's innermost activation; `again` gives instructions with their frames.
#[inline]
pub unsafe fn run(act: &mut Activation, bytes: usize, again: Again) -> Exit {
    act.again = Some(again);
    // SAFETY: the assembly follows the calling convention; see the caller's promise.
    let out = unsafe { abi::raw_run((&raw mut *act).cast(), bytes) };
    match out.kind {
        0 => Exit::Returned(0),
        _ => Exit::Unwound(ptr::with_exposed_provenance_mut(out.value)),
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

/// Leaves everything inside an activation: its `enter` returns `Jumped(value)`, its `run` asks how
/// to go on after [`Event::Jump`].
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
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
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

/// The personality routine of `raw_enter`'s frame (Itanium C++ ABI: `__personality_routine`).
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
        let frame = _Unwind_GetGR(context, abi::FRAME_REGISTER);
        answer(
            actions,
            class,
            exception,
            context,
            (frame, abi::landing_address()),
        )
    }
}

/// The personality routine of `raw_run`'s frame.
pub(super) extern "C" fn personality_run(
    _version: i32,
    actions: i32,
    class: u64,
    exception: *mut c_void,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the unwinder calls this for `raw_run`'s frame only, whose lowest word holds the frame pointer; the
    // address that the unwinder calls CFA here is the stack pointer in the frame.
    unsafe {
        let frame = *(_Unwind_GetCFA(context) as *const usize);
        answer(
            actions,
            class,
            exception,
            context,
            (frame, abi::run_landing_address()),
        )
    }
}

/// # Safety
/// `context` is the unwinder's at a frame of ours, `frame` its frame pointer.
unsafe fn answer(
    actions: i32,
    class: u64,
    exception: *mut c_void,
    context: *mut c_void,
    (frame, landing): (usize, usize),
) -> i32 {
    // SAFETY: the caller's promise; the activation's address lies in the frame.
    unsafe {
        if actions & SEARCH_PHASE != 0 {
            let hook = SEARCH.load(Ordering::Acquire);
            if hook == 0 {
                return CONTINUE_UNWIND;
            }
            let hook: SearchHook = mem::transmute::<usize, SearchHook>(hook);
            let act = *((frame - abi::ACTIVATION_SLOT) as *const *const Activation);
            return match hook(&*act, exception) {
                Search::Handler => HANDLER_FOUND,
                // An embedded program ends here: what it does not catch, nobody does.
                _ if (*act).catch_traps && class != RUST => END_OF_STACK,
                Search::Cleanup | Search::Nothing => CONTINUE_UNWIND,
            };
        }
        _Unwind_SetGR(context, abi::RESULT_REGISTER, exception as usize);
        _Unwind_SetIP(context, landing);
        INSTALL_CONTEXT
    }
}
