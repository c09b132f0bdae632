//! Entry points of the interpreter: calls from native code, the lowering of a function at its first
//! call, and look-ups by bytecode position.
//!
//! A thread claims a function before it lowers it, so that two threads that call it first share its
//! code.
//!
//! Handlers are in [`exec`](super::exec).

use super::exec::VaList;
use super::frame::{self, HEADER_BYTES, HEADER_WORDS, Header, LoweredFunction};
use super::process::INTERPRETER;
use super::{fork, handler_closure, lower, stats, unwind, warm_up};
use ompvm_cache::CacheEntry;
use ompvm_ir::{FuncId, LocId};
use ompvm_memory::abi::{CallPlan, NativeFrame, set_entry_hook};
use ompvm_memory::activation::{self, Activation, Exit, MARGIN, ResumePoint, ResumeReason};
use ompvm_memory::backtrace;
use ompvm_memory::fuel::Share;
use ompvm_memory::func::FuncRef;
use ompvm_memory::image::{Image, NEVER_COMPILED};
use ompvm_memory::interrupt;
use ompvm_memory::signal_safe::SignalSafe;
use ompvm_memory::thread::{self, ThreadState};
use ompvm_memory::{signal_actions, signals, stack, throws, walk};
use ompvm_support::error::{Error, Unsupported};
use ompvm_support::message::Message;
use ompvm_support::{demangle, fork_lock, internal_work};
use std::ffi::c_void;
use std::fmt::Write;
use std::ptr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, PoisonError};
use std::time::{Duration, Instant};

/// Keeps the compiled rare instructions of an image in its program's cache entry, until
/// [`end_program`].
pub fn attach_cache(image: &Image, cache_entry: Arc<CacheEntry>) {
    let _section = SignalSafe::enter();
    INTERPRETER.thunks.attach_cache(image.serial(), cache_entry);
}

/// Forgets a program that ends: its cache entry, and the function references of its counts.
pub fn end_program(image: &Image) {
    let _section = SignalSafe::enter();
    INTERPRETER.thunks.detach_cache(image.serial());
    super::stats::end_program(image.serial());
}

/// Bytes of an activation beyond its first frame. Most callbacks fit into them; more would limit
/// how deep tasks can nest.
const INITIAL_SPACE: usize = 1024;

/// Installs the interpreter as the tier that runs guest functions in this process.
pub fn install() {
    set_entry_hook(enter);
    activation::set_search_hook(unwind::search);
    signals::set_hooks(fault_position, describe);
    backtrace::set_frames_hook(walk_frames);
    throws::init();
    // The first call of `is_own_code` allocates; later ones, in signal handlers, must not.
    walk::is_own_code(0);
    // A handler that interrupted the first use would wait for it.
    LazyLock::force(&INTERPRETER.thunks);
    signals::set_uncaught_hooks(unwind::uncaught, unwind::write_type);
    fork::install();
    signal_actions::set_handler_hook(handler_closure::prepare);
}

/// Lets threads be interrupted in the interpreter and the baseline tier.
pub fn prepare_interrupts() {
    // The signal's handler must not allocate.
    LazyLock::force(&INTERPRETER.handlers);
    interrupt::set_leavable_hook(is_leavable);
}

/// Returns true if code that begins at an address is a handler or the baseline tier's machine code:
/// it may be left at any instruction, since a fault may leave it there.
pub(super) fn is_leavable(start: usize) -> bool {
    start == INTERPRETER.machine_code.load(Ordering::Relaxed)
        || INTERPRETER.handlers.binary_search(&start).is_ok()
}

/// Tells where the baseline tier's machine code begins.
pub fn set_machine_code(start: usize) {
    INTERPRETER.machine_code.store(start, Ordering::Relaxed);
}

/// A node of the list of lowered code.
pub(super) struct CodeNode {
    code: &'static LoweredFunction,
    next: *const CodeNode,
}

fn find_code(ip: *const u64) -> Option<&'static LoweredFunction> {
    let mut node = INTERPRETER.lowered.load(Ordering::Acquire).cast_const();
    // SAFETY: nodes are leaked, so the pointers in the list stay valid.
    while let Some(n) = unsafe { node.as_ref() } {
        if n.code.contains(ip) {
            return Some(n.code);
        }
        node = n.next;
    }
    None
}

/// Returns the code at an address if a lowered function has its code there.
pub(super) fn code_at(code: *const LoweredFunction) -> Option<&'static LoweredFunction> {
    INTERPRETER.code_index.get(code)
}

/// Iterates over all lowered code, newest first.
pub fn lowered_functions() -> impl Iterator<Item = &'static LoweredFunction> {
    let mut node = INTERPRETER.lowered.load(Ordering::Acquire).cast_const();
    std::iter::from_fn(move || {
        // SAFETY: nodes are leaked, so the pointers in the list stay valid.
        let n = unsafe { node.as_ref() }?;
        node = n.next;
        Some(n.code)
    })
}

/// Gets each newly lowered function before it runs.
pub(super) type LoweredHook = fn(&FuncRef, &'static LoweredFunction);

/// Registers a function that is called with each newly lowered function before it runs.
pub fn set_lowered_hook(hook: LoweredHook) {
    INTERPRETER.lowered_hook.set(hook);
}

/// Compiles a lowered function in place. Returns false if the function stays interpreted.
pub(super) type CompileHook = fn(&'static LoweredFunction) -> bool;

/// Registers the compiler of lowered functions, which gets those of an image as
/// [`Image::interpreted_first`] says: before they run, or after some executions.
pub fn set_compile_hook(hook: CompileHook) {
    INTERPRETER.compile_hook.set(hook);
}

/// Returns the bytecode instruction that an address in machine code belongs to; `None` for any
/// other address.
pub(super) type BytecodeHook = fn(usize) -> Option<*const u64>;

/// Registers the function that finds the instructions of machine code, before any such code is in
/// place. Signal handlers call it, so it must neither allocate nor lock.
pub fn set_bytecode_hook(hook: BytecodeHook) {
    INTERPRETER.bytecode_hook.set(hook);
}

/// Returns the bytecode instruction that an address in machine code belongs to. Neither allocates
/// nor locks.
fn bytecode_at(pc: usize) -> Option<*const u64> {
    INTERPRETER.bytecode_hook.get().and_then(|at| at(pc))
}

/// Makes code visible to [`locate`].
pub(super) fn publish(code: &'static LoweredFunction) {
    INTERPRETER.code_index.insert(code);
    let node = Box::leak(Box::new(CodeNode {
        code,
        next: ptr::null(),
    }));
    let mut head = INTERPRETER.lowered.load(Ordering::Relaxed);
    loop {
        node.next = head;
        match INTERPRETER.lowered.compare_exchange_weak(
            head,
            node,
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

/// A function that is being lowered.
struct LoweringInProgress {
    /// Address of its [`FuncRef`].
    func: usize,
    /// The thread that lowers it.
    by: libc::pthread_t,
    /// True if another thread has waited for it.
    awaited: bool,
}

/// The functions that are being lowered.
pub(super) struct InProgress(Vec<LoweringInProgress>);

impl InProgress {
    /// Returns an empty list.
    pub(super) const fn new() -> InProgress {
        InProgress(Vec::new())
    }

    /// Drops the claims of other threads; for a child of `fork`, which has only the calling thread.
    pub(super) fn drop_other_threads(&mut self) {
        // SAFETY: `pthread_self` has no preconditions.
        let own = unsafe { libc::pthread_self() };
        self.0.retain(|l| l.by == own);
    }
}

/// The longest wait for another thread's lowering. Lowering a function twice only wastes work,
/// whereas a stopped thread must not block the others forever.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// A claim to lower a function, released when dropped.
struct Claim(usize);

impl Claim {
    /// Claims a function; `None` if another thread has lowered it meanwhile.
    fn acquire(func: &FuncRef) -> Option<Claim> {
        // Not `std::thread::current()`, which is gone while thread-local destructors run.
        // SAFETY: `pthread_self` has no preconditions.
        let (key, own) = (ptr::from_ref(func) as usize, unsafe {
            libc::pthread_self()
        });
        let mut list = fork_lock::lock(&INTERPRETER.in_progress);
        loop {
            if is_lowered(func) {
                return None;
            }
            // A thread does not wait for itself: its signal handler may call the function that it
            // is lowering.
            let other = |l: &LoweringInProgress| l.func == key && l.by != own;
            let mut late = false;
            if let Some(lowering) = list.0.iter_mut().find(|l| other(l)) {
                lowering.awaited = true;
                let waited = INTERPRETER.lowering_done.wait_timeout(list, MAX_WAIT);
                let (again, result) = waited.unwrap_or_else(PoisonError::into_inner);
                (list, late) = (again, result.timed_out());
            }
            if late || !list.0.iter().any(other) {
                list.0.push(LoweringInProgress {
                    func: key,
                    by: own,
                    awaited: false,
                });
                return Some(Claim(key));
            }
        }
    }

    /// Returns true if another thread waits for the function.
    fn is_awaited(&self) -> bool {
        let list = &fork_lock::lock(&INTERPRETER.in_progress).0;
        list.iter().any(|l| l.func == self.0 && l.awaited)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let list = &mut fork_lock::lock(&INTERPRETER.in_progress).0;
        if let Some(i) = list.iter().position(|l| l.func == self.0) {
            list.swap_remove(i);
        }
        INTERPRETER.lowering_done.notify_all();
    }
}

/// Returns a function's code and lowers it first if necessary. Threads that call it meanwhile wait.
pub fn lower_function(func: &FuncRef) -> &'static LoweredFunction {
    // SAFETY: only `lower_first` stores to `code`, and only pointers to leaked code.
    let known = || unsafe {
        func.code
            .load(Ordering::Acquire)
            .cast::<LoweredFunction>()
            .as_ref()
    };
    known().unwrap_or_else(|| first_call(func))
}

/// Returns true if a function is lowered.
pub fn is_lowered(func: &FuncRef) -> bool {
    !func.code.load(Ordering::Acquire).is_null()
}

/// The outcome of lowering a function before its first call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoweredAhead {
    /// Not lowered: a call came first.
    Late,
    /// Lowered while a caller waited.
    Awaited,
    /// Lowered before any call.
    InTime,
}

/// Lowers a function before its first call, and compiles it in place if `warm`.
pub fn lower_ahead(func: &FuncRef, warm: bool) -> LoweredAhead {
    if is_lowered(func) {
        return LoweredAhead::Late;
    }
    stack::with_room(|| {
        let (code, claim) = lower_first(func);
        let awaited = claim.is_some_and(|claim| claim.is_awaited());
        if warm && func.image().interpreted_first.load(Ordering::Relaxed) != NEVER_COMPILED {
            warm_up::compile(code);
        }
        match awaited {
            true => LoweredAhead::Awaited,
            false => LoweredAhead::InTime,
        }
    })
}

/// Lowers a function in a section: a handler of the program may call functions that are not lowered
/// either, at any point.
#[cold]
#[inline(never)]
fn first_call(func: &FuncRef) -> &'static LoweredFunction {
    let _section = SignalSafe::enter();
    stack::with_room(|| lower_first(func).0)
}

/// Lowers a function that another thread may be lowering, too. Returns its code, and the claim to
/// release if there was one.
fn lower_first(func: &FuncRef) -> (&'static LoweredFunction, Option<Claim>) {
    // SAFETY: only this function stores to `code`, and only pointers to leaked code.
    let known = || unsafe {
        func.code
            .load(Ordering::Acquire)
            .cast::<LoweredFunction>()
            .as_ref()
    };
    let claim = Claim::acquire(func);
    if let Some(code) = known() {
        return (code, claim);
    }
    let _own = internal_work::enter();
    let options = lower::Options::of_image(func.image());
    let start = options.count.then(Instant::now);
    let code: &'static LoweredFunction = Box::leak(lower::lower(func.image(), func.id, &options));
    if let Some(start) = start {
        let body = func.image().module.functions[func.id].body.as_ref();
        stats::record_lowering(body.map_or(0, |b| b.insts.len()), start.elapsed());
    }
    let fresh = ptr::from_ref(code).cast_mut().cast::<c_void>();
    let done = match func.code.compare_exchange(
        ptr::null_mut(),
        fresh,
        Ordering::AcqRel,
        Ordering::Acquire,
    ) {
        Ok(_) => {
            publish(code);
            match func.image().interpreted_first.load(Ordering::Relaxed) {
                NEVER_COMPILED => {}
                0 => {
                    if let Some(compile) = INTERPRETER.compile_hook.get() {
                        compile(code);
                    }
                }
                executions => warm_up::delay_compilation(code, executions),
            }
            if let Some(hook) = INTERPRETER.lowered_hook.get() {
                hook(func, code);
            }
            code
        }
        // SAFETY: another thread stored leaked code here in the same way.
        Err(winner) => unsafe { &*winner.cast::<LoweredFunction>() },
    };
    (done, claim)
}

/// Returns the image, function and source location of a bytecode position.
pub fn locate(ip: *const u64) -> Option<(&'static Image, FuncId, Option<LocId>)> {
    let code = find_code(ip)?;
    Some((code.image(), code.func, code.loc(ip)))
}

/// Returns the image and the function of a position in bytecode or in its machine code.
pub fn function_at(position: usize) -> Option<(*const Image, FuncId)> {
    let ip = match bytecode_at(position) {
        Some(ip) => ip,
        None if position.is_multiple_of(8) => position as *const u64,
        None => return None,
    };
    let (image, func, _) = locate(ip)?;
    Some((ptr::from_ref(image), func))
}

/// Returns the address that follows the interpreted call whose native callee returns to `returns`,
/// a position in one of this process's handlers or shims.
pub fn address_after_call(returns: usize) -> Option<usize> {
    if !walk::is_own_code(returns) {
        return None;
    }
    // SAFETY: the state is this thread's. The frame of a live activation has a header, and the
    // handler saved frame and position before its call.
    unsafe {
        let state = thread::current_or_null().as_ref()?;
        let frame = state.activation.as_ref()?.frame;
        if frame.is_null() {
            return None;
        }
        let code = frame::code(frame.cast()).as_ref()?;
        let ip = state.position();
        code.address_after_call(ip).filter(|_| code.contains(ip))
    }
}

pub(super) fn fault_position(
    state: &ThreadState,
    pc: usize,
    registers: &[usize; 16],
) -> *const u64 {
    if let Some(ip) = bytecode_at(pc) {
        return ip;
    }
    // SAFETY: the frame of a live activation has a header.
    let running = unsafe {
        let act = state.activation;
        if act.is_null() || (*act).frame.is_null() {
            ptr::null()
        } else {
            frame::code((*act).frame.cast())
        }
    };
    let hit = |ip: usize| -> bool {
        let ip = ip as *const u64;
        // SAFETY: `running` is the code of a live frame, which is never freed.
        ip.is_aligned()
            && (unsafe { running.as_ref() }.is_some_and(|c| c.contains(ip))
                || find_code(ip).is_some())
    };
    // `rdi` comes first (r8 is index 8 in ucontext's order): it holds a handler's instruction.
    [8usize, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15]
        .into_iter()
        .map(|i| registers[i])
        .find(|&r| hit(r))
        .map_or(ptr::null(), |r| r as *const u64)
}

fn describe(ip: *const u64, place: &mut dyn Write, function: &mut dyn Write) {
    let Some((image, func, loc)) = locate(ip) else {
        return;
    };
    let module = &image.module;
    // Code without a line of its own, such as a function's entry, is reported at the function's
    // line.
    let loc = loc.filter(|&l| module.debug.locs[l].line > 0);
    if let Some(loc) = loc {
        let l = &module.debug.locs[loc];
        let file = &module.debug.files[l.file].name;
        let _ = if l.column > 0 {
            write!(place, "{file}:{}:{}", l.line, l.column)
        } else {
            write!(place, "{file}:{}", l.line)
        };
        let _ = write!(function, "{}", module.debug.scopes[l.scope].name);
    } else if let Some(scope) = module.functions[func].scope {
        let scope = &module.debug.scopes[scope];
        let file = &module.debug.files[scope.file].name;
        let _ = write!(place, "{file}:{}", scope.line);
        let _ = write!(function, "{}", scope.name);
    } else {
        let name = demangle::source_name(&module.functions[func].name);
        let _ = write!(function, "{name}");
    }
}

/// Calls `each` for the frames of an activation, innermost first; see [`backtrace::FramesHook`].
fn walk_frames(
    frame: *mut u8,
    sp: *mut u8,
    ip: *const u64,
    each: &mut dyn FnMut(*const u64) -> bool,
) -> bool {
    let word = |regs: *mut u64, number: usize| walk::read((regs as usize).wrapping_sub(number * 8));
    // The stack pointer leads to the running frame; the activation itself records only the frame of
    // its last native call.
    let running = thread::frame_at(sp as usize, &walk::read).map(|regs| regs as *mut u64);
    let running = running.filter(|&regs| {
        let code = word(regs, 3).and_then(|code| code_at(code as *const LoweredFunction));
        !sp.is_null() && code.is_some_and(|code| code.contains(ip))
    });
    let (mut regs, mut ip) = (running.unwrap_or(frame.cast()), ip);
    // Memory is read with accessors that fail on unmapped addresses, and code is looked up before
    // use.
    while let Some(code) = word(regs, 3).and_then(|c| code_at(c as *const LoweredFunction)) {
        // Bytecode that only calls compiled code has no blocks: the compiled frame was already
        // shown.
        if !code.blocks.is_empty() && !each(ip) {
            return false;
        }
        let (Some(returns), Some(caller)) = (word(regs, 1), word(regs, 2)) else {
            break;
        };
        // The position of the call itself, not of the instruction after it.
        ip = (returns as *const u64).wrapping_sub(1);
        regs = caller as *mut u64;
    }
    true
}

/// The callee and the caller of an activation.
struct PendingCall<'a> {
    code: &'static LoweredFunction,
    by: Caller<'a>,
}

/// The source of the arguments and the destination of the result.
enum Caller<'a> {
    Native(&'a CallPlan, *mut NativeFrame),
    /// Argument words, and space for the result's words.
    Guest(&'a [u64], &'a mut [u64]),
}

/// The most parameters whose slots are listed in a short array.
const MAX_PARAMS: usize = 32;
/// The most parameters whose slots are listed on the stack.
const MANY_PARAMS: usize = 256;

/// Unused bytes above a thread's outermost guest frame. Natively an array overrun in the outermost
/// function reaches the C library's frames, and the function continues until it checks its guard.
/// Inner activations have no such gap, since nested tasks must be able to use the whole stack.
const OVERRUN_GAP: usize = 1024;

/// Returns the bytes of the frame that stands for the native caller: its header, the result, and
/// the list that `va_start` copies.
fn base_bytes(code: &LoweredFunction, act: &Activation) -> usize {
    let gap = if act.prev.is_null() { OVERRUN_GAP } else { 0 };
    HEADER_BYTES + ret_words(code) * 8 + size_of::<VaList>().next_multiple_of(16) + gap
}

fn ret_words(code: &LoweredFunction) -> usize {
    (code.ret_words as usize).max(2).next_multiple_of(2)
}

/// Lays out an activation's first frames below `end`.
#[inline(never)]
fn lay_out_frames(act: &mut Activation, end: usize) -> ResumePoint {
    // SAFETY: `enter` or `call_words` stored the `PendingCall`, and `run_activation` reserved the
    // bytes of both frames below `end`. The frames are written before they are read.
    unsafe {
        let PendingCall { code, by } = &*act.call.cast::<PendingCall>();
        let lowest = end - base_bytes(code, act);
        let base = (lowest as *mut u64).add(HEADER_WORDS);
        let va = base.add(ret_words(code)).cast::<VaList>();
        let regs = (lowest as *mut u64).byte_sub(code.frame as usize);
        frame::write_header(
            base,
            Header {
                return_ip: ptr::null(),
                caller: ptr::null_mut(),
                code: ptr::null(),
                dst: 0,
                va: ptr::null(),
                sp: lowest as *mut u8,
            },
        );
        frame::write_header(
            regs,
            Header {
                return_ip: (&raw const INTERPRETER.exit).cast(),
                caller: base,
                code: *code,
                dst: u32::from(code.ret_words) << 16,
                va,
                sp: lowest as *mut u8,
            },
        );
        match by {
            Caller::Native(plan, native) => copy_arguments(code, plan, &mut **native, regs, va),
            Caller::Guest(words, _) => {
                let n = words.len().min(code.frame as usize / 8);
                regs.copy_from_nonoverlapping(words.as_ptr(), n);
            }
        }
        (*act.state).sp = regs.cast::<u8>().sub(HEADER_BYTES);
        act.frame = regs.cast();
        ResumePoint {
            ip: code.entry,
            regs,
        }
    }
}

/// Copies a native caller's arguments into a fresh frame.
///
/// # Safety
/// `regs` and `va` belong to the fresh frame of `code`, and `plan` is the plan of its signature.
unsafe fn copy_arguments(
    code: &LoweredFunction,
    plan: &CallPlan,
    native: &mut NativeFrame,
    regs: *mut u64,
    va: *mut VaList,
) {
    let start_of = plan.va_start();
    // SAFETY: `regs` and `va` are the fresh frame's and the plan is its signature's (the caller's
    // contract).
    unsafe {
        va.write(VaList {
            gp_offset: start_of.gp_offset,
            fp_offset: start_of.fp_offset,
            overflow: native.stack.add(start_of.overflow as usize),
            save: (&raw mut native.gpr).cast(),
        });
        let params = &code.params[..code.params.len() - 1];
        match params.len() {
            0..=MAX_PARAMS => read_parameters::<MAX_PARAMS>(params, plan, native, regs),
            // Still on the stack: the caller may be a signal.
            n if n <= MANY_PARAMS => read_parameters::<MANY_PARAMS>(params, plan, native, regs),
            _ => {
                let dst: Vec<*mut u64> = params.iter().map(|&s| regs.add(s as usize)).collect();
                plan.read_args(native, &dst);
            }
        }
    }
}

/// Copies at most `N` arguments to the slots `params` of the frame at `regs`.
///
/// # Safety
/// As for [`copy_arguments`].
#[inline(never)]
unsafe fn read_parameters<const N: usize>(
    params: &[u16],
    plan: &CallPlan,
    native: &mut NativeFrame,
    regs: *mut u64,
) {
    let mut dst = [ptr::null_mut::<u64>(); N];
    // SAFETY: the slots lie in the frame (the caller's contract).
    unsafe {
        for (d, &slot) in dst.iter_mut().zip(params) {
            *d = regs.add(slot as usize);
        }
        plan.read_args(native, &dst[..params.len()]);
    }
}

/// Returns the position at which an activation begins, or continues after an exception or a jump.
extern "C-unwind" fn resume(
    act: &mut Activation,
    reason: ResumeReason,
    value: usize,
) -> ResumePoint {
    if reason == ResumeReason::Begin {
        return lay_out_frames(act, value);
    }
    // SAFETY: runs on the activation's stack below its frames, which are alive.
    unsafe {
        let act: *mut Activation = act;
        let cx = Activation::resume(act);
        (*act).state = cx;
        // The native call that ended in this way does not return.
        (*cx).native_call_frame = ptr::null_mut();
        let (exception, place) = match (reason, value) {
            (ResumeReason::Jump, unwind::RESUME_UNWINDING) => ((*act).interp[1], None),
            (ResumeReason::Jump, buffer) => (0, Some(unwind::resume_jump(buffer, cx))),
            (_, exception) => (exception, unwind::land_native(&*act, exception, cx)),
        };
        match place {
            Some((ip, regs)) => ResumePoint { ip, regs },
            None => ResumePoint {
                ip: ptr::null(),
                regs: ptr::with_exposed_provenance_mut(exception),
            },
        }
    }
}

/// Reads the result from the frame at `base`, which stands for the caller.
///
/// # Safety
/// `act` is the innermost activation, whose first function has returned.
#[inline(never)]
pub(super) unsafe extern "sysv64-unwind" fn read_result(base: *mut u64, act: *mut Activation) {
    // SAFETY: `act` is live and its `call` is the `PendingCall` of `enter` or `call_words`, whose
    // frame is below on the stack.
    unsafe {
        let call = &mut *(*act).call.cast_mut().cast::<PendingCall>();
        match &mut call.by {
            Caller::Native(plan, native) => plan.write_ret(&mut **native, base),
            Caller::Guest(_, to) => {
                let n = to.len().min(call.code.ret_words as usize);
                to.as_mut_ptr().copy_from_nonoverlapping(base, n);
            }
        }
    }
}

extern "C-unwind" fn enter(func: &FuncRef, native: &mut NativeFrame) {
    let code = lower_function(func);
    let plan = match func.plan() {
        Ok(plan) => plan,
        Err(why) => refuse(func, &why),
    };
    let mut call = PendingCall {
        code,
        by: Caller::Native(plan, native),
    };
    let cx = thread::current();
    // SAFETY: the state is this thread's; there is room for the frames that `lay_out_frames` lays
    // out.
    unsafe {
        let mut act = Activation::default();
        act.ip = code.entry;
        act.call = (&raw mut call).cast_const().cast();
        act.push(cx);
        stats::begin_entry(&mut act, cx, func);
        let tank = &func.image().fuel;
        let outer = tank.is_limited().then(|| Share::begin(cx, tank)).flatten();
        let exit = run_activation(&mut act, code);
        // The program may have moved this stack to another thread.
        let cx = thread::current_or_null();
        Share::end(cx, tank, outer);
        stats::end_entry(&act, cx);
        act.pop(cx);
        if let Exit::Unwound(exception) = exit {
            activation::resume_unwind(exception)
        }
    }
}

/// Runs the call of an activation that was pushed.
///
/// # Safety
/// As for [`activation::run_frames`]; `act.call` is a [`PendingCall`] of `code`.
unsafe fn run_activation(act: &mut Activation, code: &LoweredFunction) -> Exit {
    let bytes = base_bytes(code, act) + code.frame as usize + HEADER_BYTES + MARGIN + INITIAL_SPACE;
    act.full_stack_handler = super::stack_overflow::handle_full_stack as *const () as usize;
    // SAFETY: the caller's contract; `bytes` covers the frames that `lay_out_frames` lays out.
    unsafe { activation::run_frames(act, bytes.next_multiple_of(16), resume) }
}

/// Calls `code` with `words` as arguments, in an activation of its own.
///
/// # Safety
/// As for a call of the function; the calling thread runs guest code.
pub(super) unsafe fn call_words(
    code: &'static LoweredFunction,
    words: &[u64],
    result: &mut [u64],
) -> Exit {
    let mut call = PendingCall {
        code,
        by: Caller::Guest(words, result),
    };
    // SAFETY: the caller's contract; the activation outlives the run and is popped in order.
    unsafe {
        let mut act = Activation::default();
        act.ip = code.entry;
        act.call = (&raw mut call).cast_const().cast();
        act.push(thread::current());
        let exit = run_activation(&mut act, code);
        act.pop(thread::current_or_null());
        exit
    }
}

#[cold]
#[inline(never)]
fn refuse(func: &FuncRef, why: &str) -> ! {
    let name = &func.image().module.functions[func.id].name;
    let what = Unsupported {
        what: format!("a call from native code with {why}"),
        place: None,
        function: Some(name.to_string()),
    };
    let error = Error::Unsupported(vec![what]);
    Message::of_error(&error).print();
    std::process::exit(125)
}
