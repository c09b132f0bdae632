//! Calls of a guest's functions, from which exits and faults come back as values.
//!
//! In the embedded mode a call pushes an activation, to which `exit`, a fault and an exception jump.
//! In the native mode it is a plain call: exits and faults end the process.
//!
//! An empty call from Rust costs a few nanoseconds, most of them here, so nothing is allocated.

use super::Process;
use super::exits::EmbeddedRun;
use crate::value::ValueKind;
use ompvm_ir::Function;
use ompvm_memory::activation::{self, Activation, Exit, RawTrap};
use ompvm_memory::fuel::Share;
use ompvm_memory::stack::Stack;
use ompvm_memory::{heap, signals, thread, throws};
use ompvm_support::error::{Error, Trap, TrapKind};
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;

thread_local! {
    /// The stack of this thread's last embedded call, and its size.
    static STACK: Cell<Option<(usize, Stack)>> = const { Cell::new(None) };
}

/// Calls `f` on a stack of `bytes` bytes.
fn on_stack<R>(bytes: usize, f: impl FnOnce() -> R) -> Result<R, Error> {
    let stack = match STACK.take() {
        Some((size, stack)) if size == bytes => stack,
        _ => Stack::new(bytes)
            .map_err(|why| Error::Host(format!("no memory for a stack of {bytes} bytes: {why}")))?,
    };
    let result = stack.call(f);
    STACK.set(Some((bytes, stack)));
    Ok(result)
}

/// Code that a call runs, with two arguments.
pub(super) type Entry = unsafe extern "C-unwind" fn(*mut c_void, usize) -> usize;

/// The end of a call without a fault.
pub(super) enum End {
    /// The entry returned this value.
    Returned(usize),
    /// The guest called `exit` with this status.
    Exited(i32),
}

impl Process {
    /// Runs `f`, which runs guest code. In the embedded mode exits and faults come back as values,
    /// and what `f` holds is not dropped then. Allocates nothing, because this is most of the cost
    /// of an empty call from Rust.
    #[inline]
    pub(super) fn guarded(&self, f: impl FnOnce(&Process)) -> Result<Option<i32>, Error> {
        // Passed by its address: a copy of fields that were just written waits for the writes.
        let mut once = ManuallyDrop::new(|| f(self));
        let entry = entry_of(&once);
        let closure = (&raw mut once).cast();
        // SAFETY: the entry is that of the closure, which lives until the call ends and runs once.
        let end = unsafe { self.run(entry, closure, 0)? };
        match end {
            End::Returned(_) => Ok(None),
            End::Exited(status) => Ok(Some(status)),
        }
    }

    /// Runs an entry with two arguments.
    ///
    /// # Safety
    /// `entry` takes these arguments; it may be left by a jump.
    #[inline(never)]
    pub(super) unsafe fn run(&self, entry: Entry, a: *mut c_void, b: usize) -> Result<End, Error> {
        match self.stack {
            // SAFETY: this function's contract is the callee's.
            0 => unsafe { self.run_here(entry, a, b) },
            // SAFETY: as above.
            bytes => on_stack(bytes, || unsafe { self.run_here(entry, a, b) })?,
        }
    }

    /// Runs an entry as [`Self::run`] does, on the current stack.
    ///
    /// # Safety
    /// The contract of [`Self::run`].
    #[inline]
    unsafe fn run_here(&self, entry: Entry, a: *mut c_void, b: usize) -> Result<End, Error> {
        let state = thread::current();
        // SAFETY: this thread's state.
        unsafe { heap::record_allocations(state) };
        if self.native {
            heap::retain_free_memory();
            let mut result = 0;
            // SAFETY: this function's contract is the callee's.
            activation::at_stack_bottom(|| result = unsafe { entry(a, b) });
            return Ok(End::Returned(result));
        }
        let mut run = EmbeddedRun {
            act: Activation::default(),
            handlers: &raw const *self.handlers,
            serial: self.image.serial(),
        };
        run.act.catch_traps = true;
        // SAFETY: this thread's state, which lives as long as the thread.
        let (exception_snapshot, outer) = unsafe {
            let run = (&raw mut run).cast();
            (
                throws::exception_snapshot(state, self.image.cpp()),
                std::mem::replace(&mut (*state).embedded_run, run),
            )
        };
        let interrupts = self.interrupts.as_ref();
        // SAFETY: `run` and what the entry uses outlive the activation. The entry runs guest code
        // called through stubs, and its own frames have nothing to drop when a jump leaves them.
        let exit = unsafe {
            // Dropped in place: to move it takes a sixth of an empty call.
            let _cancellable = interrupts.map(|i| i.begin(self.time_limit));
            let tank = &self.image.fuel;
            let outer_share = tank
                .is_limited()
                .then(|| Share::begin(state, tank))
                .flatten();
            run.act.push(state);
            let exit = activation::call_contained(&mut run.act, entry, a, b);
            run.act.pop(state);
            Share::end(state, tank, outer_share);
            exit
        };
        // SAFETY: this thread's state.
        unsafe {
            (*state).embedded_run = outer;
            if matches!(exit, Exit::Jumped(_) | Exit::Trapped) {
                exception_snapshot.restore(state);
            }
        }
        // SAFETY: the activation is popped.
        unsafe { outcome(exit, &mut run.act.trap) }
    }

    /// Calls a function defined in the guest with scalar arguments in slot form.
    ///
    /// # Errors
    /// Fails if the function cannot be called natively or, in the embedded mode, if the guest
    /// faults or exits.
    ///
    /// # Safety
    /// The arguments and `ret` must match the signature of the guest's function.
    pub unsafe fn call(
        &self,
        id: ompvm_ir::FuncId,
        args: &[u64],
        ret: &mut u64,
    ) -> Result<(), Error> {
        let Some(func) = self.image.func_ref(id) else {
            return Err(Error::Host(
                "the function is not defined in the program".into(),
            ));
        };
        let plan = func.plan().map_err(Error::Host)?;
        let slots: Vec<*const u64> = args.iter().map(ptr::from_ref).collect();
        // SAFETY: the slots match the function's signature by this function's contract; the closure
        // has nothing to drop.
        unsafe { self.call_guest(|| plan.call(func.stub, &slots, ret)) }
    }

    /// Runs `f`, which calls a function of the guest.
    ///
    /// # Errors
    /// Fails if the guest, in the embedded mode, faults or exits.
    ///
    /// # Safety
    /// `f` must call functions of this program with arguments that match their signatures, and must
    /// hold nothing that has to be dropped if the call does not return.
    #[inline]
    pub unsafe fn call_guest(&self, f: impl FnOnce()) -> Result<(), Error> {
        // SAFETY: this function's contract is the callee's.
        match unsafe { self.call_until_exit(f) }? {
            None => Ok(()),
            Some(status) => Err(exit_in_call(status)),
        }
    }

    /// Runs `f`, which calls a function of the guest. Returns the status if the guest, in the
    /// embedded mode, calls `exit`.
    ///
    /// # Errors
    /// Fails if the guest, in the embedded mode, faults.
    ///
    /// # Safety
    /// The contract of [`Self::call_guest`].
    #[inline]
    pub unsafe fn call_until_exit(&self, f: impl FnOnce()) -> Result<Option<i32>, Error> {
        self.guarded(|_| f())
    }
}

#[cold]
pub(super) fn exit_in_call(status: i32) -> Error {
    Error::Host(format!("the guest exited with status {status}"))
}

fn unknown_trap() -> Trap {
    Trap {
        kind: TrapKind::Abort,
        detail: None,
        place: None,
        function: None,
        thread: None,
        region: None,
    }
}

/// Returns the result of a call that ended in a way. An exception continues in the caller.
///
/// # Safety
/// The activation of the call is popped.
#[inline]
pub(super) unsafe fn outcome(exit: Exit, trap: &mut Option<RawTrap>) -> Result<End, Error> {
    match exit {
        Exit::Returned(result) => Ok(End::Returned(result)),
        Exit::Jumped(status) => Ok(End::Exited(status as i32)),
        Exit::Trapped => Err(trapped(trap.take())),
        // SAFETY: the activation is popped by contract, so the exception continues in this frame's
        // caller.
        Exit::Unwound(exception) => unsafe { activation::resume_unwind(exception) },
    }
}

/// Returns the error for the fault that ended a call.
#[cold]
fn trapped(trap: Option<RawTrap>) -> Error {
    trap.map_or_else(unknown_trap, signals::describe).into()
}

/// Returns the entry that runs a closure of the type of `_closure`.
fn entry_of<F: FnOnce()>(_closure: &ManuallyDrop<F>) -> Entry {
    extern "C-unwind" fn go<F: FnOnce()>(closure: *mut c_void, _: usize) -> usize {
        // SAFETY: `guarded` passes the address of its live closure, once.
        unsafe { ManuallyDrop::take(&mut *closure.cast::<ManuallyDrop<F>>())() };
        0
    }
    go::<F>
}

/// Returns the kinds of a function's parameters and result if all are scalars.
pub fn signature(
    module: &ompvm_ir::Module,
    function: &Function,
) -> Option<(Vec<ValueKind>, ValueKind)> {
    let (ret, params, variadic) = function.signature(module);
    if variadic {
        return None;
    }
    let params = params
        .iter()
        .map(|&t| ValueKind::from_type(&module.types[t]))
        .collect::<Option<Vec<_>>>()?;
    Some((params, ValueKind::from_type(&module.types[ret])?))
}
