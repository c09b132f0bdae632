//! Faults of the guest: one message that names the guest's source line, then the death that a
//! native run would have died; or, for embedders, a [`Trap`] as a value.
//!
//! Handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT run on an alternate stack. Hooks that
//! the interpreter registers find the guest's position. They call nothing that takes a lock or
//! allocates, for the fault may have happened inside malloc: Rust allocations in a handler come
//! from [`fault_alloc`], and [`walk`] finds the frames. A handler that the guest installs replaces
//! these, as natively.
//!
//! Faults while no guest code runs on the thread get the default action.

use super::activation::{self, Activation, RawTrap};
use super::backtrace::{self, Step};
use super::hooks::HOOKS;
use super::stack;
use super::thread::{self, ThreadState};
use super::walk::{self, Registers};
use ompvm_support::error::{FpException, Trap, TrapKind};
use ompvm_support::fault_alloc;
use ompvm_support::message::{self, Kind, Message};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::fmt::{self, Write};
use std::mem;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Finds the bytecode position of a faulting context from its program counter or among its general
/// registers; null if neither holds one (then [`ThreadState::position`] is used).
pub type PositionHook = fn(&ThreadState, pc: usize, registers: &[usize; 16]) -> *const u64;

/// Writes the source location of a bytecode position: first `file.c:14:3`, then the function's
/// name. May leave either empty. Takes no lock of the C library.
pub type LocateHook = fn(ip: *const u64, place: &mut dyn Write, function: &mut dyn Write);

/// Returns the calling thread's OpenMP number in its team, if it has one.
pub type ThreadHook = fn() -> Option<u32>;

/// Returns the construct that the calling thread executes; null outside of constructs.
pub type CurrentRegionHook = fn() -> *const c_void;

/// Writes a construct that [`CurrentRegionHook`] returned. Takes no lock, and allocates nothing.
pub type RegionHook = fn(region: *const c_void, out: &mut dyn Write);

/// Returns the uncaught exception that an abort at this position ends and the position that threw
/// it; `None` for other aborts. Called inside the abort: after its frames are left, the exception
/// is lost.
pub type UncaughtHook = fn(ip: *const u64) -> Option<(usize, *const u64)>;

/// Writes the type of an uncaught exception. Takes no lock of the C library.
pub type TypeHook = fn(exception: usize, text: &mut dyn Write);

/// Restores memory whose access was revoked: gets the address and whether the access is a write;
/// returns true if the access can be retried. Called in the signal handler.
pub type RestoreHook = fn(address: usize, write: bool) -> bool;

/// Leaves LLVM if it caused the fault on this thread, and does not return then. Called first in the
/// signal handler.
pub type CompilerHook = fn(signal: i32);

/// Registers the hook that contains faults of the compiler; returns the address of the handler that
/// calls it.
pub fn set_compiler_hook(hook: CompilerHook) -> usize {
    HOOKS.compiler.set(hook);
    on_signal as *const () as usize
}

/// Registers the hook that restores memory.
pub fn set_restore_hook(hook: RestoreHook) {
    HOOKS.restore.set(hook);
}

/// Returns true if a fault accessed memory with revoked access that is accessible again.
///
/// # Safety
/// The arguments are those that the kernel passes to a handler.
unsafe fn restore_access(
    signal: i32,
    info: *mut libc::siginfo_t,
    context: *mut libc::ucontext_t,
) -> bool {
    /// `SEGV_ACCERR`: the memory is mapped, but its protection forbids the access.
    const REFUSED: i32 = 2;
    // SAFETY: the pointers are the kernel's by contract.
    let (code, address, error) = unsafe {
        let error = (&(*context).uc_mcontext.gregs)[libc::REG_ERR as usize];
        ((*info).si_code, (*info).si_addr() as usize, error)
    };
    if signal != libc::SIGSEGV || code != REFUSED {
        return false;
    }
    let Some(hook) = HOOKS.restore.get() else {
        return false;
    };
    // SAFETY: the address of this thread's `errno`.
    let errno = unsafe { *libc::__errno_location() };
    // Bit 1 of the processor's error code: a write.
    let back = hook(address, error & 2 != 0);
    // SAFETY: the address of this thread's `errno`.
    unsafe { *libc::__errno_location() = errno };
    back
}

/// Handles a fault, at this address, of a thread that executes no guest code. Returns if the fault
/// is not in a device's code either.
pub type DeviceHook = fn(signal: i32, address: usize);

/// Registers the hooks that find and name bytecode positions.
pub fn set_hooks(position: PositionHook, locate: LocateHook) {
    HOOKS.position.set(position);
    HOOKS.locate.set(locate);
}

/// Returns true if a native position is compiled guest code.
pub type CompiledHook = fn(position: usize) -> bool;

/// Writes the source location, as [`LocateHook`], of a native position in compiled guest code.
pub type NativeLocateHook = fn(position: usize, place: &mut dyn Write, function: &mut dyn Write);

/// Registers the hooks that know compiled code.
pub fn set_native_hook(compiled: CompiledHook, locate: NativeLocateHook) {
    HOOKS.native_locate.set(locate);
    HOOKS.compiled.set(compiled);
}

pub(super) fn is_compiled(position: usize) -> bool {
    HOOKS.compiled.get().is_some_and(|hook| hook(position))
}

/// Returns the innermost frame of compiled code; 0 if there is none inside the native frame of an
/// interpreter run.
pub(super) fn compiled_frame(from: Registers) -> usize {
    let mut found = 0usize;
    if HOOKS.compiled.get().is_some() {
        walk::walk(from, |frame, _| {
            let position = frame.position();
            if is_compiled(position) {
                found = position;
            }
            found != 0 || super::abi::in_enter(position)
        });
    }
    found
}

/// Registers the hooks that tell uncaught exceptions from other aborts.
pub fn set_uncaught_hooks(hook: UncaughtHook, named: TypeHook) {
    HOOKS.exception_type.set(named);
    HOOKS.uncaught.set(hook);
}

/// Registers the hook that knows OpenMP thread numbers.
pub fn set_thread_hook(hook: ThreadHook) {
    HOOKS.thread.set(hook);
}

/// Registers the hooks that find and name the construct of a thread.
pub fn set_region_hooks(current: CurrentRegionHook, named: RegionHook) {
    HOOKS.region.set(named);
    HOOKS.current_region.set(current);
}

/// Registers the hook for devices that execute their code on threads of this process.
pub fn set_device_hook(hook: DeviceHook) {
    HOOKS.device.set(hook);
}

const FATAL_SIGNALS: [i32; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
];

/// The handlers of the process, and the message of its end.
struct Handlers {
    installed: Once,
    /// True once a thread reports the fault that ends the process.
    reported: AtomicBool,
}

/// The handlers of this process, which has one action per signal and dies once.
static HANDLERS: Handlers = Handlers {
    installed: Once::new(),
    reported: AtomicBool::new(false),
};

/// Installs the handlers, once per process.
pub fn install() {
    HANDLERS.installed.call_once(|| {
        walk::init();
        for signal in FATAL_SIGNALS {
            // SAFETY: a zeroed sigaction is valid; the handler has the SA_SIGINFO signature.
            unsafe {
                let mut action: libc::sigaction = mem::zeroed();
                action.sa_sigaction = on_signal as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &action, ptr::null_mut());
            }
        }
    });
}

/// A buffer on the stack to format into.
pub(super) struct LineBuffer {
    bytes: [u8; 1024],
    len: usize,
}

impl LineBuffer {
    pub(super) fn new() -> Self {
        LineBuffer {
            bytes: [0; 1024],
            len: 0,
        }
    }
    pub(super) fn text(&self) -> &str {
        let bytes = &self.bytes[..self.len];
        match std::str::from_utf8(bytes) {
            Ok(s) => s,
            Err(e) => std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or(""),
        }
    }
}

impl Write for LineBuffer {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let n = s.len().min(self.bytes.len() - self.len);
        self.bytes[self.len..self.len + n].copy_from_slice(&s.as_bytes()[..n]);
        self.len += n;
        Ok(())
    }
}

/// Number of innermost and of outermost frames that a backtrace shows.
const INNERMOST: usize = 24;
const OUTERMOST: usize = 8;

/// A part of a backtrace.
enum Part {
    /// A step, with the number of its frame.
    Step(usize, Step),
    /// The number of steps that were left out here.
    Omitted(usize),
}

/// Writes the guest's frames, one per line.
pub(super) fn write_backtrace(raw: RawTrap, from: Registers) {
    each_part(raw, from, &mut |part| {
        let mut line = LineBuffer::new();
        match part {
            Part::Omitted(frames) => {
                let _ = write!(line, "  ... {frames} frames");
            }
            Part::Step(_, Step::Forked) => {
                let _ = line.write_str("  forked at");
            }
            Part::Step(number, Step::Frame(ip)) => {
                let (mut place, mut function) = (LineBuffer::new(), LineBuffer::new());
                locate(ip, &mut place, &mut function);
                let name = if function.len > 0 {
                    function.text()
                } else {
                    "?"
                };
                let _ = write!(line, "  #{number} {name}");
                if place.len > 0 {
                    let _ = write!(line, " at {}", place.text());
                }
            }
        }
        line.len = line.len.min(line.bytes.len() - 1);
        let _ = line.write_str("\n");
        // SAFETY: the buffer is a local.
        unsafe { libc::write(2, line.bytes.as_ptr().cast(), line.len) };
    });
}

/// Calls `show` for the innermost frames, and for the outermost ones of a deep recursion.
fn each_part(raw: RawTrap, from: Registers, show: &mut dyn FnMut(Part)) {
    let (mut steps, mut frames) = (0, 0);
    let mut last = [(0, Step::Forked); OUTERMOST];
    let state = thread::current_or_null();
    // If the innermost frame is compiled, the walk takes the interpreter's position from its
    // activation.
    let ip = match is_compiled(raw.ip as usize) || raw.exception != 0 {
        true => ptr::null(),
        false => raw.ip,
    };
    let mut each = |step: Step| {
        let number = frames;
        frames += usize::from(step != Step::Forked);
        if steps < INNERMOST {
            show(Part::Step(number, step));
        } else {
            last[steps % OUTERMOST] = (number, step);
        }
        steps += 1;
        true
    };
    // SAFETY: the state is this thread's.
    unsafe { backtrace::walk(state, from, ip, is_compiled, &mut each) };
    if steps > INNERMOST {
        let first = steps.saturating_sub(OUTERMOST).max(INNERMOST);
        if first > INNERMOST {
            show(Part::Omitted(first - INNERMOST));
        }
        for i in first..steps {
            let (number, step) = last[i % OUTERMOST];
            show(Part::Step(number, step));
        }
    }
}

pub(super) fn locate(ip: *const u64, place: &mut LineBuffer, function: &mut LineBuffer) {
    if is_compiled(ip as usize) {
        // `set_native_hook` sets it before the hook that `is_compiled` calls.
        if let Some(hook) = HOOKS.native_locate.get() {
            hook(ip as usize, place, function);
        }
        return;
    }
    if let Some(hook) = HOOKS.locate.get().filter(|_| !ip.is_null()) {
        hook(ip, place, function);
    }
}

/// Returns the exception behind an abort, and the position that threw it.
fn uncaught(ip: *const u64) -> Option<(usize, *const u64)> {
    HOOKS.uncaught.get()?(ip)
}

/// Writes the type of the uncaught exception.
fn write_type(raw: RawTrap, text: &mut LineBuffer) {
    if let Some(hook) = HOOKS.exception_type.get().filter(|_| raw.exception != 0) {
        hook(raw.exception, text);
    }
}

/// Returns the construct that the calling thread executes.
pub(super) fn current_region() -> *const c_void {
    HOOKS
        .current_region
        .get()
        .map_or(ptr::null(), |hook| hook())
}

/// Writes a construct; nothing for null.
pub(super) fn write_region(region: *const c_void, out: &mut dyn Write) {
    if let Some(hook) = HOOKS.region.get().filter(|_| !region.is_null()) {
        hook(region, out);
    }
}

pub(super) fn thread_number() -> Option<u32> {
    HOOKS.thread.get()?()
}

/// Describes the fault as a value. Allocates, so it must not run in a signal handler.
pub fn describe(raw: RawTrap) -> Trap {
    let (mut place, mut function, mut detail) =
        (LineBuffer::new(), LineBuffer::new(), LineBuffer::new());
    let mut region = LineBuffer::new();
    {
        let _memory = fault_alloc::describing();
        write_type(raw, &mut detail);
        write_region(raw.region, &mut region);
        locate(raw.ip, &mut place, &mut function);
    }
    let text = |l: &LineBuffer| (l.len > 0).then(|| l.text().to_owned());
    Trap {
        kind: raw.kind,
        detail: text(&detail),
        place: text(&place),
        function: text(&function),
        thread: raw.thread,
        region: text(&region),
    }
}

impl RawTrap {
    /// Makes a fault of a kind at a position; an abort by an uncaught exception becomes
    /// [`TrapKind::UncaughtException`].
    fn new(kind: TrapKind, ip: *const u64) -> RawTrap {
        if kind == TrapKind::Abort
            && let Some((exception, ip)) = uncaught(ip)
        {
            let kind = TrapKind::UncaughtException;
            return RawTrap {
                kind,
                exception,
                ..RawTrap::plain(kind, ip)
            };
        }
        RawTrap::plain(kind, ip)
    }

    /// Makes a fault of a kind at a position, on the calling thread.
    pub(super) fn plain(kind: TrapKind, ip: *const u64) -> RawTrap {
        RawTrap {
            kind,
            ip,
            exception: 0,
            thread: thread_number(),
            region: current_region(),
        }
    }
}

/// The stack of [`report`]: the guest's stack for handlers may have room for little more than the
/// handler.
#[repr(align(64))]
struct ReportStack(UnsafeCell<[u8; 512 << 10]>);

// SAFETY: only the first thread that reports uses it.
unsafe impl Sync for ReportStack {}

static REPORT_STACK: ReportStack = ReportStack(UnsafeCell::new([0; 512 << 10]));

/// Writes the message. Only the first of several faulting threads does; the others wait for the
/// process to end.
fn report(raw: RawTrap, from: Registers) {
    if HANDLERS.reported.swap(true, Ordering::AcqRel) {
        loop {
            // SAFETY: has no preconditions.
            unsafe { libc::pause() };
        }
    }
    extern "C-unwind" fn write(work: *mut c_void) {
        // SAFETY: the address of the pair below, which outlives the call.
        let (raw, from) = unsafe { *work.cast::<(RawTrap, Registers)>() };
        write_report(raw, from);
    }
    let mut work = (raw, from);
    let top = REPORT_STACK.0.get() as usize + size_of::<ReportStack>();
    // SAFETY: `write` takes the address of the pair, and this is the only thread that uses the
    // stack.
    unsafe { super::abi::raw_on(write, (&raw mut work).cast(), top) };
}

/// Writes the message of [`report`].
fn write_report(raw: RawTrap, from: Registers) {
    // The guest may hold the allocator's lock, and names may have to be decoded.
    let _memory = fault_alloc::describing();
    let (mut place, mut function, mut detail) =
        (LineBuffer::new(), LineBuffer::new(), LineBuffer::new());
    write_type(raw, &mut detail);
    locate(raw.ip, &mut place, &mut function);
    let bare = Trap {
        kind: raw.kind,
        detail: None,
        place: None,
        function: None,
        thread: None,
        region: None,
    };
    let thread = thread_number();
    let mut text = LineBuffer::new();
    // Formatting into the fixed buffer neither fails nor allocates.
    let _ = write!(text, "the guest program failed: {bare}");
    if detail.len > 0 {
        let _ = write!(text, ", of type `{}`,", detail.text());
    }
    if place.len > 0 {
        let _ = write!(text, " at {}", place.text());
    }
    if function.len > 0 {
        let _ = write!(text, " in `{}`", function.text());
    }
    if let Some(n) = thread {
        let _ = write!(text, ", thread {n}");
    }
    let text = text.text();
    let mut region = LineBuffer::new();
    write_region(raw.region, &mut region);
    let message = Message::new(Kind::of_trap(raw.kind), &text)
        .region(region.text())
        .place(place.text())
        .function(function.text())
        .thread(thread)
        .signal(raw.kind.signal());
    print_with_backtrace(&message, raw, from);
}

/// Prints a message with the calling thread's frames.
pub(super) fn print_with_backtrace(message: &Message<'_>, raw: RawTrap, from: Registers) {
    if !message::is_json() {
        message.print();
        return write_backtrace(raw, from);
    }
    let mut object = message.object();
    object.begin_backtrace();
    let (mut shown, mut omitted, mut forked) = (0, 0, false);
    each_part(raw, from, &mut |part| match part {
        Part::Omitted(frames) => omitted = frames,
        Part::Step(_, Step::Forked) => forked = true,
        Part::Step(_, Step::Frame(ip)) => {
            let (mut place, mut function) = (LineBuffer::new(), LineBuffer::new());
            locate(ip, &mut place, &mut function);
            object.frame(shown, place.text(), function.text(), mem::take(&mut forked));
            shown += 1;
        }
    });
    object.end_backtrace(omitted);
    object.end();
}

/// Returns the thread's innermost activation that catches traps.
///
/// # Safety
/// `state` is this thread's state.
unsafe fn catcher(state: *mut ThreadState) -> Option<*mut Activation> {
    // SAFETY: the state is this thread's by contract.
    let act = unsafe { (*state).catcher };
    (!act.is_null()).then_some(act)
}

/// Ends the process by the default action of a signal.
pub(super) fn die(signal: i32) -> ! {
    /// Number of attempts: a thread that starts to compile may install its own handlers at the same
    /// time.
    const ATTEMPTS: u32 = 100;
    // SAFETY: restores the default action, unblocks the signal and raises it; should the process
    // survive (it cannot), it exits with the shell's convention.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        for _ in 0..ATTEMPTS {
            libc::sigaction(signal, &action, ptr::null_mut());
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
            libc::raise(signal);
            libc::sched_yield();
        }
        libc::_exit(128 + signal)
    }
}

/// Ends the process for a fault that could not be contained, with its message.
pub fn end_process(trap: RawTrap) -> ! {
    report(trap, Registers::here());
    die(trap.kind.signal())
}

/// Ends the guest for a fault that the interpreter detected itself.
///
/// If the guest has a handler for the signal, that runs first, as natively. If `ip` is null, the
/// position is the innermost compiled frame.
pub fn raise_trap(kind: TrapKind, ip: *const u64) -> ! {
    let state = thread::current();
    let ip = if ip.is_null() {
        compiled_frame(Registers::here()) as *const u64
    } else {
        ip
    };
    let raw = RawTrap::new(kind, ip);
    // SAFETY: the state is this thread's; the catcher is a live activation further out.
    unsafe {
        if let Some(act) = catcher(state) {
            activation::jump_trapped(act, raw);
        }
        let mut old: libc::sigaction = mem::zeroed();
        libc::sigaction(kind.signal(), ptr::null(), &mut old);
        let ours = on_signal as *const () as usize;
        if old.sa_sigaction != ours && old.sa_sigaction != libc::SIG_DFL {
            if let Some(act) = (*state).activation.as_mut() {
                act.ip = ip;
            }
            libc::raise(kind.signal());
        }
    }
    report(raw, Registers::here());
    die(kind.signal())
}

/// `si_code` of a general-protection fault, for which the kernel knows no address.
const SI_KERNEL: i32 = 0x80;

extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    if let Some(hook) = HOOKS.compiler.get() {
        hook(signal);
    }
    let state = thread::current_or_null();
    // SAFETY: the kernel gives valid pointers; the state is this thread's.
    unsafe {
        let context: *mut libc::ucontext_t = context.cast();
        if restore_access(signal, info, context) {
            return;
        }
        let pc = (&(*context).uc_mcontext.gregs)[libc::REG_RIP as usize] as usize;
        let sp = (&(*context).uc_mcontext.gregs)[libc::REG_RSP as usize] as usize;
        let address = (*info).si_addr() as usize;
        let compiled = if is_compiled(pc) {
            pc
        } else if signal == libc::SIGSEGV && address == pc && is_compiled(calling_instruction(sp)) {
            // A call to an invalid address: no unwind information describes that frame.
            calling_instruction(sp)
        } else {
            compiled_frame(Registers::of(&*context))
        };
        let interpreting = !state.is_null() && !(*state).activation.is_null();
        if !interpreting && compiled == 0 {
            if let Some(hook) = HOOKS.device.get().filter(|_| (*info).si_code > 0) {
                hook(signal, address);
            }
            die(signal);
        }
        let registers: [usize; 16] =
            std::array::from_fn(|i| (&(*context).uc_mcontext.gregs)[i] as usize);
        let sent = (*info).si_code <= 0; // sent by kill, raise or abort, not by a fault
        let mut ip = ptr::null();
        if compiled != 0 {
            ip = compiled as *const u64;
        } else if let Some(hook) = HOOKS
            .position
            .get()
            .filter(|_| !sent && !super::abi::in_call(pc))
        {
            // At a native call, the registers hold its arguments; the position is saved.
            ip = hook(&*state, pc, &registers);
        }
        if ip.is_null() {
            ip = (*state).position();
        }
        let kind = match signal {
            libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL if sent => {
                die(signal);
            }
            libc::SIGSEGV if (*info).si_code == SI_KERNEL => TrapKind::RefusedAccess,
            libc::SIGSEGV if address == pc => TrapKind::BadCall(address),
            libc::SIGSEGV if near_native_stack(!state.is_null(), sp, address) => {
                TrapKind::StackOverflow
            }
            libc::SIGSEGV | libc::SIGBUS => TrapKind::BadAddress(address),
            libc::SIGFPE => FpException::of_code((*info).si_code)
                .map_or(TrapKind::IntegerDivision, TrapKind::FloatingPoint),
            libc::SIGILL => TrapKind::BuiltinTrap,
            _ => TrapKind::Abort,
        };
        let raw = RawTrap::new(kind, ip);
        if interpreting && let Some(act) = catcher(state) {
            activation::jump_trapped_from(state, &*context, act, raw);
        }
        let from = Registers::of(&*context);
        // No unwind information covers the target of a bad call, so the frame is the caller's.
        let from = match kind {
            TrapKind::BadCall(_) => from.out_of_call().unwrap_or(from),
            _ => from,
        };
        report(raw, from);
        die(signal)
    }
}

/// Returns the address of the call instruction whose return address is on top of the stack.
fn calling_instruction(sp: usize) -> usize {
    walk::read(sp).map_or(0, |after| after.wrapping_sub(1))
}

/// Returns true if the native stack overflowed: the address is close to the stack pointer, or both
/// are at the stack's end or beyond it.
fn near_native_stack(guest: bool, sp: usize, address: usize) -> bool {
    let around = |place: usize| address.wrapping_sub(place.wrapping_sub(1 << 16)) < (1 << 17);
    let end = if guest { stack::native_end() } else { 0 };
    let beyond = |place: usize, above: usize| {
        end != 0 && (end.saturating_sub(LARGE_FRAME)..end + above).contains(&place)
    };
    around(sp) || (beyond(address, 4096) && beyond(sp, 1 << 16))
}

/// Bytes by which a function with a large frame may reach beyond the end of its stack.
const LARGE_FRAME: usize = 64 << 20;
