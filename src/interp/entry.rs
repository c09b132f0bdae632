//! The ways into the interpreter: calls from native code, first calls of a function, questions
//! about a bytecode position.
//!
//! Why lowering is claimed: two threads that call a function first must share its code. What not:
//! no handler is here (`exec`).

use super::exec::{self, VaList};
use super::frame::{self, HEADER, Header, Lowered};
use super::isa::{Enc, Nil};
use super::thunk::Thunks;
use super::{baseline, child, lower, stats, unwind};
use crate::ir::{FuncId, LocId};
use crate::memory::abi::{NativeFrame, set_entry_hook};
use crate::memory::activation::{self, Activation, Exit};
use crate::memory::altstack;
use crate::memory::func::FuncRef;
use crate::memory::thread::{self, ThreadState};
use crate::memory::{image::Image, signals, throws, walk};
use crate::support::error::{Error, TrapKind, Unsupported};
use crate::support::own_work;
use std::ffi::c_void;
use std::fmt::Write;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where a base frame's callee returns to.
static EXIT: Enc<Nil> = Enc {
    handler: exec::exit,
    ops: Nil,
};

/// The compiled rare instructions of the process.
pub(super) static THUNKS: LazyLock<Thunks> = LazyLock::new(Thunks::default);

/// Bytes above the stack pointer that an interrupted handler may have been about to use.
const RED_ZONE: usize = 4096;

/// Makes the interpreter the one that runs guest functions in this process.
pub fn init() {
    set_entry_hook(enter);
    activation::set_search_hook(unwind::search);
    signals::set_hooks(position, describe);
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
    if let Some(code) = known() {
        return code;
    }
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
        code.behind(state.ip).filter(|_| code.contains(state.ip))
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
        let _ = write!(function, "{}", module.functions[func].name);
    }
}

struct Start {
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
}

extern "C-unwind" fn go(start: *mut c_void, _: usize) -> usize {
    // SAFETY: `enter` below passes a live Start.
    unsafe {
        let start = &*start.cast::<Start>();
        exec::run(start.ip, start.regs, start.cx);
    }
    0
}

/// Whether code of ours called: the runtime a region's or a task's function. It was called itself
/// in an orderly way, so no handler was interrupted; guests' signal handlers are called by the
/// kernel. Without a [`RED_ZONE`] tasks can be nested ten times as deep.
fn called_by_us(native: &NativeFrame) -> bool {
    // SAFETY: the return address lies below the first stack argument.
    let from = unsafe { native.stack.cast::<usize>().sub(1).read() };
    walk::is_ours(from)
}

/// Most parameters whose places fit the native stack; more go to the guest stack's scratch area.
const MAX_PARAMS: usize = 32;

extern "C-unwind" fn enter(func: &FuncRef, native: &mut NativeFrame) {
    let code = lower_function(func);
    let plan = match func.plan() {
        Ok(plan) => plan,
        Err(why) => {
            let name = &func.image().module.functions[func.id].name;
            let what = Unsupported {
                what: format!("a call from native code with {why}"),
                place: None,
                function: Some(name.to_string()),
            };
            eprintln!("ompvm: {}", Error::Unsupported(vec![what]));
            std::process::exit(125)
        }
    };
    let cx = thread::current();
    // SAFETY: the state is this thread's; frames are laid out above its stack pointer, and
    // `enter` of the callee checks the limit.
    unsafe {
        let mut act = Activation::default();
        act.push(cx);
        stats::begin(&mut act, cx, func);
        let fresh = altstack::follow(cx, &mut act, ptr::from_mut(native) as usize);
        let zone = if fresh || act.prev.is_null() || called_by_us(native) {
            0
        } else {
            RED_ZONE
        };
        let start = ((*cx).sp as usize + zone).next_multiple_of(16) as *mut u8;
        let base = start.cast::<u64>().add(HEADER);
        let ret_words = (code.ret_words as usize).max(2).next_multiple_of(2);
        let va = base.add(ret_words).cast::<VaList>();
        let regs = va.byte_add(32).cast::<u64>().add(HEADER);
        if regs.cast::<u8>() >= (*cx).limit {
            signals::raise_trap(TrapKind::StackOverflow, code.entry);
        }
        frame::write_header(
            base,
            Header {
                return_ip: ptr::null(),
                caller: ptr::null_mut(),
                code: ptr::null(),
                dst: 0,
                va: ptr::null(),
                sp: (*cx).sp,
            },
        );
        (*cx).sp = regs.sub(HEADER).cast();
        frame::write_header(
            regs,
            Header {
                return_ip: (&raw const EXIT).cast(),
                caller: base,
                code,
                dst: u32::from(code.ret_words) << 16,
                va,
                sp: start,
            },
        );
        let start_of = plan.va_start();
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
        act.frame = regs.cast();
        let mut place = Start {
            ip: code.entry,
            regs,
            cx,
        };
        loop {
            let exit = activation::enter(&mut act, go, (&raw mut place).cast(), 0);
            if !matches!(exit, Exit::Returned(_)) {
                // The call that ended so will not come back.
                (*cx).away = ptr::null_mut();
            }
            match exit {
                Exit::Returned(_) => break,
                Exit::Unwound(exception) => {
                    (*cx).activation = &raw mut act;
                    (*cx).limit = act.limit;
                    match unwind::land_native(&act, exception as usize, cx) {
                        Some((ip, regs)) => place = Start { ip, regs, cx },
                        None => {
                            stats::end(&act, cx);
                            act.pop(cx);
                            activation::resume_unwind(exception)
                        }
                    }
                }
                Exit::Jumped(unwind::RESUME) => {
                    let exception = act.interp[1] as *mut c_void;
                    stats::end(&act, cx);
                    act.pop(cx);
                    activation::resume_unwind(exception)
                }
                Exit::Jumped(buffer) => {
                    let (ip, regs) = unwind::resume_jump(buffer, &raw mut act, cx);
                    place = Start { ip, regs, cx };
                }
                Exit::Trapped => {
                    crate::bug!("a fault came back to an activation that does not take it")
                }
            }
        }
        plan.write_ret(native, base);
        stats::end(&act, cx);
        act.pop(cx);
    }
}
