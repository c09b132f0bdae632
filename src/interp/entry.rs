//! The ways into the interpreter: calls from native code, first calls of a function, questions
//! about a bytecode position.
//!
//! Why lowering is claimed: two threads that call a function first must share its code. What not:
//! no handler is here (`exec`).

use super::exec::{self, VaList};
use super::frame::{self, HEAD, HEADER, Header, Lowered};
use super::isa::{Enc, Nil};
use super::thunk::Thunks;
use super::{baseline, child, lower, stats, unwind};
use crate::ir::{FuncId, LocId};
use crate::llvm::cache::Shelf;
use crate::memory::abi::{CallPlan, NativeFrame, set_entry_hook};
use crate::memory::activation::{self, Activation, Event, Exit, MARGIN, Onward};
use crate::memory::backtrace;
use crate::memory::func::FuncRef;
use crate::memory::thread::{self, ThreadState};
use crate::memory::{image::Image, signals, stack, throws, walk};
use crate::support::error::{Error, Unsupported};
use crate::support::{demangle, own_work};
use std::ffi::c_void;
use std::fmt::Write;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where a base frame's callee returns to.
static EXIT: Enc<Nil> = Enc {
    handler: exec::exit,
    ops: Nil,
};

/// The compiled rare instructions of the process.
pub(super) static THUNKS: LazyLock<Thunks> = LazyLock::new(Thunks::default);

/// Keeps the code of an image's rare instructions in its program's cache, until [`forget_cache`].
pub fn use_cache(image: &Image, shelf: Arc<Shelf>) {
    THUNKS.keep_in(image.serial(), shelf);
}

/// Ends [`use_cache`].
pub fn forget_cache(image: &Image) {
    THUNKS.forget_shelf(image.serial());
}

/// Bytes of room for further frames that an activation begins with: what a callback calls mostly fits, and
/// tasks can be nested deep.
const ROOM: usize = 1024;

/// Makes the interpreter the one that runs guest functions in this process.
pub fn init() {
    set_entry_hook(enter);
    activation::set_search_hook(unwind::search);
    signals::set_hooks(position, describe);
    backtrace::set_frames_hook(frames);
    throws::init();
    // Later questions allocate nothing.
    walk::is_ours(0);
    signals::set_uncaught_hooks(unwind::uncaught, unwind::write_type);
    child::install();
}

struct Node {
    code: &'static Lowered,
    next: *const Node,
}
static CODE: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

fn find_code(ip: *const u64) -> Option<&'static Lowered> {
    let mut node = CODE.load(Ordering::Acquire).cast_const();
    // SAFETY: nodes are never freed.
    while let Some(n) = unsafe { node.as_ref() } {
        if n.code.contains(ip) {
            return Some(n.code);
        }
        node = n.next;
    }
    None
}

/// The code at an address, when it is one of a function that was lowered.
pub(super) fn known(code: *const Lowered) -> Option<&'static Lowered> {
    all().find(|&known| ptr::eq(known, code))
}

/// Every code that was lowered so far, the last one first.
pub fn all() -> impl Iterator<Item = &'static Lowered> {
    let mut node = CODE.load(Ordering::Acquire).cast_const();
    std::iter::from_fn(move || {
        // SAFETY: nodes are never freed.
        let n = unsafe { node.as_ref() }?;
        node = n.next;
        Some(n.code)
    })
}

static LOWERED: AtomicUsize = AtomicUsize::new(0);

/// Registers a function that is called with each function that was lowered, before it runs.
pub fn set_lowered_hook(hook: fn(&FuncRef, &'static Lowered)) {
    LOWERED.store(hook as usize, Ordering::Release);
}

/// Makes code known to [`locate`].
pub(super) fn remember(code: &'static Lowered) {
    let node = Box::leak(Box::new(Node {
        code,
        next: ptr::null(),
    }));
    let mut head = CODE.load(Ordering::Relaxed);
    loop {
        node.next = head;
        match CODE.compare_exchange_weak(head, node, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

/// The functions that are being lowered, and by which thread.
pub(super) static UNDER_WAY: Mutex<UnderWay> = Mutex::new(UnderWay(Vec::new()));
static ONE_DONE: Condvar = Condvar::new();

/// See [`UNDER_WAY`].
pub(super) struct UnderWay(Vec<(usize, libc::pthread_t)>);

impl UnderWay {
    /// In a child of `fork`: the calling thread is the only one.
    pub(super) fn forget_others(&mut self) {
        // SAFETY: has no preconditions.
        let own = unsafe { libc::pthread_self() };
        self.0.retain(|&(_, by)| by == own);
    }
}

/// Longest wait for another thread's lowering. It is only a wait for work done once: a thread
/// that is stopped must not hold up the others for ever.
const PATIENCE: Duration = Duration::from_millis(50);

/// A function's place among those under way, given back when dropped.
struct Claim(usize);

impl Claim {
    /// Claims a function; `None` when another thread has lowered it meanwhile.
    fn of(func: &FuncRef) -> Option<Claim> {
        // Not Rust's own identity, which is gone when destructors of thread data run.
        // SAFETY: has no preconditions.
        let (key, own) = (ptr::from_ref(func) as usize, unsafe {
            libc::pthread_self()
        });
        let mut list = child::lock(&UNDER_WAY);
        loop {
            if !func.code.load(Ordering::Acquire).is_null() {
                return None;
            }
            // A signal's handler may need what its own thread was lowering.
            let other = |under_way: &UnderWay| {
                let mut list = under_way.0.iter();
                list.any(|&(f, by)| f == key && by != own)
            };
            let mut late = false;
            if other(&list) {
                let waited = ONE_DONE.wait_timeout(list, PATIENCE);
                let (again, result) = waited.unwrap_or_else(PoisonError::into_inner);
                (list, late) = (again, result.timed_out());
            }
            if late || !other(&list) {
                list.0.push((key, own));
                return Some(Claim(key));
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let list = &mut child::lock(&UNDER_WAY).0;
        if let Some(i) = list.iter().position(|&(f, _)| f == self.0) {
            list.swap_remove(i);
        }
        ONE_DONE.notify_all();
    }
}

/// The code of a function, lowered at the first call; threads that need it meanwhile wait.
pub fn lower_function(func: &FuncRef) -> &'static Lowered {
    // SAFETY: only this function stores there, code that is never freed.
    let known = || unsafe { func.code.load(Ordering::Acquire).cast::<Lowered>().as_ref() };
    match known() {
        Some(code) => code,
        None => stack::with_room(|| lower_first(func)),
    }
}

#[cold]
#[inline(never)]
fn lower_first(func: &FuncRef) -> &'static Lowered {
    // SAFETY: as in `lower_function`.
    let known = || unsafe { func.code.load(Ordering::Acquire).cast::<Lowered>().as_ref() };
    let claim = Claim::of(func);
    if let Some(code) = known() {
        return code;
    }
    let _own = own_work::begin();
    let options = lower::Options::current();
    let start = options.count.then(Instant::now);
    let code: &'static Lowered = Box::leak(lower::lower(func.image(), func.id, &options));
    if let Some(start) = start {
        let body = func.image().module.functions[func.id].body.as_ref();
        stats::lowered(body.map_or(0, |b| b.insts.len()), start.elapsed());
    }
    let fresh = ptr::from_ref(code).cast_mut().cast::<c_void>();
    let done = match func.code.compare_exchange(
        ptr::null_mut(),
        fresh,
        Ordering::AcqRel,
        Ordering::Acquire,
    ) {
        Ok(_) => {
            remember(code);
            if baseline::compiles_first() {
                baseline::compile(code);
            }
            let hook = LOWERED.load(Ordering::Acquire);
            if hook != 0 {
                // SAFETY: only `set_lowered_hook` stores here.
                let hook =
                    unsafe { std::mem::transmute::<usize, fn(&FuncRef, &'static Lowered)>(hook) };
                hook(func, code);
            }
            code
        }
        // SAFETY: as above.
        Err(winner) => unsafe { &*winner.cast::<Lowered>() },
    };
    drop(claim);
    done
}

/// The function and source location of a bytecode position.
pub fn locate(ip: *const u64) -> Option<(&'static Image, FuncId, Option<LocId>)> {
    let code = find_code(ip)?;
    Some((code.image(), code.func, code.loc(ip)))
}

/// The image and the function that a position is in: in bytecode, in its machine code.
pub fn function_at(position: usize) -> Option<(*const Image, FuncId)> {
    let ip = match baseline::bytecode_at(position) {
        Some(ip) => ip,
        None if position.is_multiple_of(8) => position as *const u64,
        None => return None,
    };
    let (image, func, _) = locate(ip)?;
    Some((ptr::from_ref(image), func))
}

/// The address behind the call that interpreted code makes, when native code that it called returns
/// to `returns`, a position in a handler or a shim of ours.
pub fn behind_call(returns: usize) -> Option<usize> {
    if !walk::is_ours(returns) {
        return None;
    }
    // SAFETY: this thread's state; a live activation's frame has a header, and its handler saved
    // both before it called.
    unsafe {
        let state = thread::current_or_null().as_ref()?;
        let frame = state.activation.as_ref()?.frame;
        if frame.is_null() {
            return None;
        }
        let code = frame::lowered(frame.cast()).as_ref()?;
        let ip = state.position();
        code.behind(ip).filter(|_| code.contains(ip))
    }
}

fn position(state: &ThreadState, pc: usize, registers: &[usize; 16]) -> *const u64 {
    if let Some(ip) = baseline::bytecode_at(pc) {
        return ip;
    }
    // SAFETY: a live activation's frame has a header.
    let running = unsafe {
        let act = state.activation;
        if act.is_null() || (*act).frame.is_null() {
            ptr::null()
        } else {
            frame::lowered((*act).frame.cast())
        }
    };
    let hit = |ip: usize| -> bool {
        let ip = ip as *const u64;
        // SAFETY: the frame's code is alive.
        ip.is_aligned()
            && (unsafe { running.as_ref() }.is_some_and(|c| c.contains(ip))
                || find_code(ip).is_some())
    };
    // rdi first: handlers get their instruction there (index 8 is r8 in ucontext's order).
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
    // Code without a line of its own, such as a function's entry, stands at the function's head.
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
        let name = demangle::plain(&module.functions[func].name);
        let _ = write!(function, "{name}");
    }
}

/// The frames of an activation from the inside out; see [`backtrace::FramesHook`].
fn frames(
    frame: *mut u8,
    sp: *mut u8,
    ip: *const u64,
    each: &mut dyn FnMut(*const u64) -> bool,
) -> bool {
    let word = |regs: *mut u64, number: usize| walk::read((regs as usize).wrapping_sub(number * 8));
    // The stack pointer leads to the frame that runs; an activation notes the one of its
    // last call of native code.
    let running = thread::frame_at(sp as usize, &walk::read).map(|regs| regs as *mut u64);
    let running = running.filter(|&regs| {
        let code = word(regs, 3).and_then(|code| known(code as *const Lowered));
        !sp.is_null() && code.is_some_and(|code| code.contains(ip))
    });
    let (mut regs, mut ip) = (running.unwrap_or(frame.cast()), ip);
    // Memory is read with calls that fail where there is none; code is looked up before it is used.
    while let Some(code) = word(regs, 3).and_then(|c| known(c as *const Lowered)) {
        // Code that only calls compiled code stands for a frame that was shown before.
        if !code.blocks.is_empty() && !each(ip) {
            return false;
        }
        let (Some(returns), Some(caller)) = (word(regs, 1), word(regs, 2)) else {
            break;
        };
        // The call itself, not what follows it.
        ip = (returns as *const u64).wrapping_sub(1);
        regs = caller as *mut u64;
    }
    true
}

/// What an activation runs, and for whom.
struct Call<'a> {
    code: &'static Lowered,
    by: Caller<'a>,
}

/// Where arguments come from and where the result goes.
enum Caller<'a> {
    Native(&'a CallPlan, *mut NativeFrame),
    /// Words, and room for as many.
    Guest(&'a [u64], &'a mut [u64]),
}

/// Most parameters whose places are listed without taking memory.
const MAX_PARAMS: usize = 32;

/// Bytes between a thread's outermost guest frame and ours that nothing uses. Natively, an array overrun in the outermost
/// function reaches what the C library has there, and the function runs on until it checks its guard. Activations further
/// in have none: tasks within tasks are as deep as their stack goes.
const CUSHION: usize = 1024;

/// Bytes of the frame that stands for the native caller: its header, the result and the list that `va_start`
/// copies.
fn base_bytes(code: &Lowered, act: &Activation) -> usize {
    let cushion = if act.prev.is_null() { CUSHION } else { 0 };
    HEAD + ret_words(code) * 8 + size_of::<VaList>().next_multiple_of(16) + cushion
}

fn ret_words(code: &Lowered) -> usize {
    (code.ret_words as usize).max(2).next_multiple_of(2)
}

/// Lays out the first frames below `end`.
#[inline(never)]
fn begin(act: &mut Activation, end: usize) -> Onward {
    // SAFETY: `enter` passes what is called and made room for both frames; they are written before anything
    // reads them.
    unsafe {
        let Call { code, by } = &*act.call.cast::<Call>();
        let lowest = end - base_bytes(code, act);
        let base = (lowest as *mut u64).add(HEADER);
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
                return_ip: (&raw const EXIT).cast(),
                caller: base,
                code: *code,
                dst: u32::from(code.ret_words) << 16,
                va,
                sp: lowest as *mut u8,
            },
        );
        match by {
            Caller::Native(plan, native) => take(code, plan, &mut **native, regs, va),
            Caller::Guest(words, _) => {
                let n = words.len().min(code.frame as usize / 8);
                regs.copy_from_nonoverlapping(words.as_ptr(), n);
            }
        }
        (*act.state).sp = regs.cast::<u8>().sub(HEAD);
        act.frame = regs.cast();
        Onward {
            ip: code.entry,
            regs,
        }
    }
}

/// Takes a native caller's arguments.
///
/// # Safety
/// `regs` and `va` are the fresh frame's of `code`, whose plan it is.
unsafe fn take(
    code: &Lowered,
    plan: &CallPlan,
    native: &mut NativeFrame,
    regs: *mut u64,
    va: *mut VaList,
) {
    let start_of = plan.va_start();
    // SAFETY: the caller's promise.
    unsafe {
        va.write(VaList {
            gp_offset: start_of.gp_offset,
            fp_offset: start_of.fp_offset,
            overflow: native.stack.add(start_of.overflow as usize),
            save: (&raw mut native.gpr).cast(),
        });
        let n = code.params.len() - 1;
        if n <= MAX_PARAMS {
            let mut dst = [ptr::null_mut::<u64>(); MAX_PARAMS];
            for (d, &slot) in dst.iter_mut().zip(&code.params[..n]) {
                *d = regs.add(slot as usize);
            }
            plan.read_args(native, &dst[..n]);
        } else {
            let dst: Vec<*mut u64> = code.params[..n]
                .iter()
                .map(|&s| regs.add(s as usize))
                .collect();
            plan.read_args(native, &dst);
        }
    }
}

/// Says where an activation begins, and where it goes on after an exception or a jump.
extern "C-unwind" fn again(act: &mut Activation, event: Event, value: usize) -> Onward {
    if event == Event::Begin {
        return begin(act, value);
    }
    // SAFETY: runs on the activation's stack, below its frames, which are alive.
    unsafe {
        let act: *mut Activation = act;
        let cx = Activation::resume(act);
        (*act).state = cx;
        // The call that ended so will not come back.
        (*cx).away = ptr::null_mut();
        let (exception, place) = match (event, value) {
            (Event::Jump, unwind::RESUME) => ((*act).interp[1], None),
            (Event::Jump, buffer) => (0, Some(unwind::resume_jump(buffer, cx))),
            (_, exception) => (exception, unwind::land_native(&*act, exception, cx)),
        };
        match place {
            Some((ip, regs)) => Onward { ip, regs },
            None => Onward {
                ip: ptr::null(),
                regs: ptr::with_exposed_provenance_mut(exception),
            },
        }
    }
}

/// Takes the result from the frame at `base`, which stands for the caller.
///
/// # Safety
/// `act` is the innermost activation, whose first function has returned.
#[inline(never)]
pub(super) unsafe extern "sysv64-unwind" fn finish(base: *mut u64, act: *mut Activation) {
    // SAFETY: the caller's promise; `enter` is below.
    unsafe {
        let call = &mut *(*act).call.cast_mut().cast::<Call>();
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
    let mut call = Call {
        code,
        by: Caller::Native(plan, native),
    };
    let cx = thread::current();
    // SAFETY: the state is this thread's; there is room for the frames that `begin` lays out.
    unsafe {
        let mut act = Activation::default();
        act.ip = code.entry;
        act.call = (&raw mut call).cast_const().cast();
        act.push(cx);
        stats::begin(&mut act, cx, func);
        let exit = run(&mut act, code);
        // The program may have moved this stack to another thread.
        let cx = thread::current_again();
        stats::end(&act, cx);
        act.pop(cx);
        if let Exit::Unwound(exception) = exit {
            activation::resume_unwind(exception)
        }
    }
}

/// Runs what an activation that was pushed calls.
///
/// # Safety
/// As for [`activation::run`]; `act.call` is a [`Call`] of `code`.
unsafe fn run(act: &mut Activation, code: &Lowered) -> Exit {
    let bytes = base_bytes(code, act) + code.frame as usize + HEAD + MARGIN + ROOM;
    act.spill = super::spill::spill as *const () as usize;
    // SAFETY: the caller's promise.
    unsafe { activation::run(act, bytes.next_multiple_of(16), again) }
}

/// Calls `code` with these words as its arguments, as guest code does, in an activation of its own.
///
/// # Safety
/// As for a call of the function; the calling thread runs guest code.
pub(super) unsafe fn call_words(code: &'static Lowered, words: &[u64], result: &mut [u64]) -> Exit {
    let mut call = Call {
        code,
        by: Caller::Guest(words, result),
    };
    // SAFETY: the caller's promise.
    unsafe {
        let mut act = Activation::default();
        act.ip = code.entry;
        act.call = (&raw mut call).cast_const().cast();
        act.push(thread::current());
        let exit = run(&mut act, code);
        act.pop(thread::current_again());
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
    eprintln!("ompvm: {}", Error::Unsupported(vec![what]));
    std::process::exit(125)
}
