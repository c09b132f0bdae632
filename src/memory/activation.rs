//! An activation: one run of guest code entered from native code, and its exits by a native
//! exception and by a long jump across native frames.
//!
//! [`run_frames`] is an assembly frame on the native stack of its caller. The interpreter's frames
//! lie right below it, and the stack pointer lies below them, so native calls continue from there.
//! If the frames need more room, the stack pointer moves down ([`super::abi::extend`]); the frame's
//! unwinding rules find its base through a word at the stack pointer. So guest frames always lie on
//! the running stack: a program may switch stacks, and a conservative collector that scans from a
//! local variable to the end of the stack sees the contents of all frames.
//!
//! The frame has its own personality routine (Itanium C++ ABI, "Exception Handling", level I). In
//! the search phase it asks a hook whether the activation's interpreter frames handle the
//! exception; in the cleanup phase it always lands, so that the interpreter can run cleanups. So a
//! call of a native function needs no exception boundary of its own. [`call_contained`] is the
//! variant without room for guest frames, for callers of guest code that want exits and faults back
//! as values; [`call_leaf`] is a shorter one for leaf functions.
//!
//! Knows no landing pads; the interpreter does.

mod leaf;

pub use leaf::{
    ArgumentRegisters, GENERAL, RegisterFunction, RegisterUse, VECTOR, call_leaf, call_registers,
};

use super::abi;
use super::handler_mask;
use super::hooks::HOOKS;
use super::thread::ThreadState;
use super::walk::Registers;
use ompvm_support::error::TrapKind;
use std::ffi::c_void;
use std::ptr;

/// An activation. It lives in the native frame of the caller of [`run_frames`] or
/// [`call_contained`].
#[repr(C)]
#[derive(Debug)]
pub struct Activation {
    /// Frame pointer of the assembly frame; written by it, valid while inside.
    saved_frame: usize,
    /// The native stack pointer below the guest frames of [`run_frames`]; null in
    /// [`call_contained`].
    pub(super) low: *mut u8,
    /// The lowest address for slot 0 of a guest frame.
    pub limit: *mut u8,
    /// The interpreter's handler for calls that exhaust the thread's own stack; see
    /// [`ThreadState::overflow_stack`].
    pub full_stack_handler: usize,
    /// The callback that says where [`run_frames`] continues; set by [`run_frames`].
    pub(super) resume_callback: Option<ResumeCallback>,
    /// Bytes by which the stack pointer is to move down, if handlers return to a loop.
    pub(super) requested_bytes: usize,
    /// The state of the thread that runs this activation.
    pub state: *mut ThreadState,
    /// The guest's stack pointer, saved before native calls.
    pub sp: *mut u8,
    /// The innermost interpreter frame, kept up to date by the interpreter.
    pub frame: *mut u8,
    /// The bytecode position, saved before any operation that can leave the interpreter or fault in
    /// native code.
    pub ip: *const u64,
    /// The thread's innermost activation at the entry. After a switch of stacks it may be dangling,
    /// so it is never dereferenced.
    pub prev: *mut Activation,
    /// The exception that `call_contained` returned with.
    pub exception: *mut c_void,
    /// True if a fault of the guest returns here as [`Exit::Trapped`] instead of ending the
    /// process.
    pub catch_traps: bool,
    /// True if the code inside calls no native function, so that its frame does not save the modes
    /// of the floating-point unit. After a fault they are taken from the interrupted code.
    keeps_modes: bool,
    /// The guest's stack pointer at the entry, restored by [`Activation::pop`].
    entry_sp: *mut u8,
    /// The limit at the entry.
    entry_limit: *mut u8,
    /// The thread's innermost trap-catching activation at the entry.
    entry_catcher: *mut Activation,
    /// The fault that returned here.
    pub trap: Option<RawTrap>,
    /// Storage for the interpreter.
    pub interp: [usize; 4],
    /// Storage for the interpreter: the call that [`run_frames`] executes.
    pub call: *const c_void,
}

/// The reason why [`run_frames`] asks its callback where to continue.
#[repr(usize)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResumeReason {
    /// The run begins. The value is the end of the room for guest frames.
    Begin = 0,
    /// An exception, the value, lands in this activation.
    Exception = 1,
    /// [`jump`] landed in this activation with the value.
    Jump = 2,
}

/// The point where [`run_frames`] continues: an instruction and its frame. With a null instruction,
/// [`run_frames`] returns [`Exit::Unwound`] with the exception that `regs` holds.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResumePoint {
    /// The instruction.
    pub ip: *const u64,
    /// The frame.
    pub regs: *mut u64,
}

/// Callback that tells [`run_frames`] where to continue. Runs below the guest frames.
pub type ResumeCallback = extern "C-unwind" fn(&mut Activation, ResumeReason, usize) -> ResumePoint;

/// Bytes below the guest's stack pointer that only calls use: the arguments of native calls are
/// laid out there.
pub const MARGIN: usize = 256;

/// A fault that has no source location yet.
#[derive(Clone, Copy, Debug)]
pub struct RawTrap {
    /// The kind of fault.
    pub kind: TrapKind,
    /// The bytecode position, null when unknown.
    pub ip: *const u64,
    /// The uncaught `_Unwind_Exception`, if that was the fault; else 0.
    pub exception: usize,
    /// The OpenMP number of the thread in its team.
    pub thread: Option<u32>,
    /// The construct that the thread executed, which the runtime names; null outside of constructs.
    pub region: *const c_void,
}

/// The way an activation ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Exit {
    /// The function returned this value.
    Returned(usize),
    /// This `_Unwind_Exception` passes through.
    Unwound(*mut c_void),
    /// [`jump`] landed here with this value.
    Jumped(usize),
    /// The guest faulted and the activation catches traps: see [`Activation::trap`].
    Trapped,
}

/// The answer of an activation's interpreter frames to the search phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// A frame catches the exception.
    Handler,
    /// Frames only run cleanups.
    Cleanup,
    /// No frame does anything.
    Nothing,
}

impl Default for Activation {
    fn default() -> Self {
        Activation {
            saved_frame: 0,
            low: ptr::null_mut(),
            limit: ptr::null_mut(),
            full_stack_handler: 0,
            resume_callback: None,
            requested_bytes: 0,
            state: ptr::null_mut(),
            sp: ptr::null_mut(),
            frame: ptr::null_mut(),
            ip: ptr::null(),
            prev: ptr::null_mut(),
            exception: ptr::null_mut(),
            catch_traps: false,
            keeps_modes: false,
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
    /// Returns the place of the modes of the floating-point unit in the assembly frame, which the
    /// activation is inside of.
    fn saved_modes(&self) -> *mut abi::SavedModes {
        ptr::with_exposed_provenance_mut(self.saved_frame - abi::MODES_SLOT)
    }

    /// Returns the registers of the native frame that the activation runs in.
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

    /// Makes this the thread's innermost activation and saves the state that `pop` restores.
    ///
    /// # Safety
    /// `state` is this thread's; `self` stays in place until [`Activation::pop`].
    #[inline]
    pub unsafe fn push(&mut self, state: *mut ThreadState) {
        // SAFETY: the state is this thread's by contract, and alive.
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

    /// Returns the guest's stack pointer at the entry.
    pub(super) fn stack_pointer_at_entry(&self) -> *mut u8 {
        self.entry_sp
    }

    /// Undoes [`Activation::push`], no matter what inner activations did.
    ///
    /// # Safety
    /// `state` is that of the thread that runs now, which may be another than at `push` when the
    /// program moved this stack to another thread.
    #[inline]
    pub unsafe fn pop(&mut self, state: *mut ThreadState) {
        // SAFETY: the state is this thread's by contract, and alive.
        unsafe {
            (*state).activation = self.prev;
            (*state).sp = self.entry_sp;
            (*state).limit = self.entry_limit;
            if self.catch_traps {
                (*state).catcher = self.entry_catcher;
            }
        }
    }

    /// Makes this the innermost activation of the current thread and returns that thread's state.
    /// Called after native code returns, which may have run other stacks and moved this one to
    /// another thread.
    ///
    /// # Safety
    /// The calling thread runs on this activation's stack, in this activation.
    #[inline(always)]
    pub unsafe fn resume(this: *mut Activation) -> *mut ThreadState {
        // Handlers get the state from here alone, so no address from before the call survives.
        let state = super::thread::current_or_null();
        // SAFETY: `this` is the running activation by contract; a thread that runs guest code has a
        // state.
        unsafe {
            (*state).activation = this;
            (*state).sp = (*this).sp;
            (*state).limit = (*this).limit;
            // Handlers that return to a loop read the state from the activation.
            #[cfg(not(ompvm_tail_calls))]
            {
                (*this).state = state;
            }
        }
        state
    }
}

/// Runs guest code with `bytes` of room (a multiple of 16) for its first frames, beginning where
/// `resume_callback` says. Returns [`Exit::Returned`] if an instruction ended the run, or
/// [`Exit::Unwound`].
///
/// # Safety
/// `act` is the thread's innermost activation; `resume_callback` returns instructions with their
/// frames.
#[inline]
pub unsafe fn run_frames(
    act: &mut Activation,
    bytes: usize,
    resume_callback: ResumeCallback,
) -> Exit {
    act.resume_callback = Some(resume_callback);
    // SAFETY: the assembly follows the calling convention, and `act` is the innermost activation by
    // contract.
    let out = unsafe { abi::raw_run((&raw mut *act).cast(), bytes) };
    match out.kind {
        0 => Exit::Returned(0),
        _ => Exit::Unwound(ptr::with_exposed_provenance_mut(out.value)),
    }
}

/// Calls `f(a, b)` and returns exceptions, jumps and faults inside it as values.
///
/// # Safety
/// `f` must be sound to leave by unwinding or by a jump: every frame between it and whatever
/// leaves must have no destructor to run. `act` must be the thread's innermost activation.
#[inline]
pub unsafe fn call_contained(
    act: &mut Activation,
    f: unsafe extern "C-unwind" fn(*mut c_void, usize) -> usize,
    a: *mut c_void,
    b: usize,
) -> Exit {
    // SAFETY: the assembly follows the calling convention; leaving `f` early is sound by contract.
    unsafe {
        let act = &raw mut *act;
        exit_of(abi::raw_enter(act.cast(), f, a, b), act)
    }
}

/// Returns the way in which an assembly frame ended, and notes an exception in its activation.
///
/// # Safety
/// `act` is the frame's activation.
#[inline]
unsafe fn exit_of(out: abi::EnterResult, act: *mut Activation) -> Exit {
    match out.kind {
        0 => Exit::Returned(out.value),
        1 => {
            let exception = ptr::with_exposed_provenance_mut(out.value);
            // SAFETY: a live activation by contract.
            unsafe { (*act).exception = exception };
            Exit::Unwound(exception)
        }
        2 => Exit::Jumped(out.value),
        _ => Exit::Trapped,
    }
}

/// Calls `f` and returns the fault that ends it, if one does. Exceptions and panics pass through.
///
/// # Safety
/// `f` must be sound to leave by a jump, as in [`call_contained`].
pub unsafe fn contain<F: FnOnce()>(f: F) -> Result<(), RawTrap> {
    extern "C-unwind" fn go<F: FnOnce()>(f: *mut c_void, _: usize) -> usize {
        // SAFETY: `f` is the address of the option below, which outlives the call.
        if let Some(f) = unsafe { (*f.cast::<Option<F>>()).take() } {
            f();
        }
        0
    }
    let state = super::thread::current();
    let mut f = Some(f);
    let mut act = Activation {
        catch_traps: true,
        ..Activation::default()
    };
    // SAFETY: the state is this thread's, and `act` and `f` outlive the call.
    let exit = unsafe {
        act.push(state);
        let exit = call_contained(&mut act, go::<F>, (&raw mut f).cast(), 0);
        act.pop(state);
        if exit == Exit::Trapped {
            (*state).fuel.abandon();
        }
        exit
    };
    match exit {
        Exit::Returned(_) => Ok(()),
        Exit::Trapped => Err(act.trap.take().unwrap_or(RawTrap {
            kind: TrapKind::Abort,
            ip: ptr::null(),
            exception: 0,
            thread: None,
            region: ptr::null(),
        })),
        // SAFETY: the activation is popped, so the exception continues in this frame's caller.
        Exit::Unwound(exception) => unsafe { resume_unwind(exception) },
        Exit::Jumped(_) => ompvm_support::bug!("a jump to an activation that is no target"),
    }
}

/// Returns true if a fault of the calling thread returns to one of its activations.
pub fn catches_traps() -> bool {
    // SAFETY: null, or this thread's state.
    let state = unsafe { super::thread::current_or_null().as_ref() };
    state.is_some_and(|state| !state.catcher.is_null())
}

/// Lets a fault that was contained continue to the next activation that catches traps, of which
/// there must be one.
///
/// # Safety
/// The contract of [`jump`] for that activation.
pub unsafe fn continue_trap(trap: RawTrap) -> ! {
    // SAFETY: the state is this thread's, and its catcher is live.
    unsafe { jump_trapped((*super::thread::current()).catcher, trap) }
}

/// Leaves everything inside an activation: its `call_contained` returns `Jumped(value)`; its
/// `run_frames` calls its callback with [`ResumeReason::Jump`].
///
/// # Safety
/// The activation is live on this thread, and the native frames in between may be dropped, as
/// with `longjmp`.
pub unsafe fn jump(act: *const Activation, value: usize) -> ! {
    // SAFETY: the activation is live and the frames may be dropped by contract.
    unsafe { abi::raw_jump(act.cast(), value, 2) }
}

/// Leaves everything inside an activation that catches traps from a signal handler, as
/// [`jump_trapped`] does. The kernel has reset the modes of the floating-point unit for the handler, so
/// an activation that did not save them takes them from an activation inside, or else from the
/// interrupted code.
///
/// # Safety
/// The contract of [`jump_trapped`]; `state` is the thread's, and `context` that of the handler.
pub(super) unsafe fn jump_trapped_from(
    state: *const ThreadState,
    context: &libc::ucontext_t,
    act: *mut Activation,
    trap: RawTrap,
) -> ! {
    // SAFETY: all activations are live by contract. Only code that calls no native function runs
    // in an activation without saved modes, so no stack was switched, and the list leads from the
    // innermost activation to `act`.
    unsafe {
        if (*act).keeps_modes {
            let interrupted = &*context.uc_mcontext.fpregs;
            let mut modes = abi::SavedModes::new(interrupted.mxcsr, interrupted.cwd);
            let mut inner = (*state).activation;
            while !inner.is_null() && inner != act {
                modes = *(*inner).saved_modes();
                inner = (*inner).prev;
            }
            *(*act).saved_modes() = modes;
        }
        handler_mask::restore(Registers::of(context), Some(context), act);
        (*act).trap = Some(trap);
        abi::raw_jump(act.cast(), 0, 3)
    }
}

/// Leaves everything inside an activation that catches traps: its `call_contained` returns
/// `Trapped`.
///
/// # Safety
/// The contract of [`jump`].
pub(super) unsafe fn jump_trapped(act: *mut Activation, trap: RawTrap) -> ! {
    // SAFETY: the activation is live and the frames may be dropped by contract.
    unsafe {
        handler_mask::restore(Registers::here(), None, act);
        (*act).trap = Some(trap);
        abi::raw_jump(act.cast(), 0, 3)
    }
}

/// Calls `f` as if the stack ended here. An exception that nothing inside catches is uncaught, so
/// `__cxa_throw` calls `std::terminate` with nothing unwound; a thread that leaves by
/// `pthread_exit` or cancellation ends here. Outer Rust frames would claim to handle the exception,
/// and would stop the forced unwinding. A panic cannot leave `f` either: it ends the process.
pub fn at_stack_bottom<F: FnOnce()>(f: F) {
    extern "C-unwind" fn go<F: FnOnce()>(f: *mut c_void) {
        // SAFETY: `f` is the address of the option below, which outlives the call.
        if let Some(f) = unsafe { (*f.cast::<Option<F>>()).take() } {
            f();
        }
    }
    let mut f = Some(f);
    // SAFETY: `go` takes the address of `f`, and `f` outlives the call.
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

/// Continues unwinding above an activation whose `call_contained` returned `Unwound` and which was
/// popped.
///
/// # Safety
/// `exception` is the value from `call_contained`, not yet caught or deleted.
pub unsafe fn resume_unwind(exception: *mut c_void) -> ! {
    // SAFETY: the exception is live by contract.
    unsafe { _Unwind_Resume(exception) }
}

/// The hook of the search phase.
pub type SearchHook = fn(&mut Activation, exception: *mut c_void) -> Search;

/// Registers the hook of the search phase; without one, activations handle nothing.
pub fn set_search_hook(hook: SearchHook) {
    HOOKS.search.set(hook);
}

const SEARCH_PHASE: i32 = 1;
const END_OF_STACK: i32 = 5;
const HANDLER_FOUND: i32 = 6;
/// The exception class of Rust panics, which may pass through guest frames.
const RUST_EXCEPTION: u64 = u64::from_be_bytes(*b"MOZ\0RUST");
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
        answer_unwinder(
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
    // SAFETY: the unwinder calls this for `raw_run`'s frame only, whose lowest word holds the frame
    // pointer; the address that the unwinder calls CFA is the stack pointer in that frame.
    unsafe {
        let frame = *(_Unwind_GetCFA(context) as *const usize);
        answer_unwinder(
            actions,
            class,
            exception,
            context,
            (frame, abi::run_landing_address()),
        )
    }
}

/// Answers both phases for a frame with the given frame pointer and landing address.
///
/// # Safety
/// `context` is the unwinder's at a frame of this module, `frame` its frame pointer.
unsafe fn answer_unwinder(
    actions: i32,
    class: u64,
    exception: *mut c_void,
    context: *mut c_void,
    (frame, landing): (usize, usize),
) -> i32 {
    // SAFETY: context and frame are valid by contract; the activation's address lies in the frame.
    unsafe {
        if actions & SEARCH_PHASE != 0 {
            let Some(hook) = HOOKS.search.get() else {
                return CONTINUE_UNWIND;
            };
            let act = *((frame - abi::ACTIVATION_SLOT) as *const *mut Activation);
            return match hook(&mut *act, exception) {
                Search::Handler => HANDLER_FOUND,
                // An embedded program ends here: an exception that it does not catch is uncaught.
                _ if (*act).catch_traps && class != RUST_EXCEPTION => END_OF_STACK,
                Search::Cleanup | Search::Nothing => CONTINUE_UNWIND,
            };
        }
        _Unwind_SetGR(context, abi::RESULT_REGISTER, exception as usize);
        _Unwind_SetIP(context, landing);
        INSTALL_CONTEXT
    }
}
