//! Functions that are interpreted for a while before the tier above gets them.
//!
//! Most functions of a short run execute a few times, and code without loops once. Compiling an
//! instruction takes as long as executing it some hundred times saves. So the entry and the loop
//! heads of a function ([`osr`]) begin with a handler that counts, and the function is compiled when
//! the counts add up. Threads in the middle of a loop change over at its head.
//!
//! Only `auto` waits; see [`super::set_compile_hook`].

use super::exec::{Handler, HandlerResult};
use super::frame::{self, LoweredFunction, OsrPoint};
use super::isa::INSTRUCTIONS;
use super::osr;
use super::process::INTERPRETER;
use ompvm_memory::signal_safe::SignalSafe;
use ompvm_memory::stack;
use ompvm_memory::thread::ThreadState;
use ompvm_support::internal_work;
use std::sync::atomic::Ordering;

/// Lets a function that was just lowered be compiled after `executions` of its entry and loops.
pub(super) fn delay_compilation(code: &LoweredFunction, executions: u32) {
    code.interpreted.store(executions, Ordering::Relaxed);
    for point in &code.osr_points {
        osr::replace_handler(code, point, warm_up as *const () as usize);
    }
}

/// Counts an execution, compiles the function if it was the last to be counted, and continues.
///
/// # Safety
/// As for any [`Handler`]; `ip` is an OSR point's instruction.
unsafe extern "sysv64-unwind" fn warm_up(
    ip: *const u64,
    regs: *mut u64,
    cx: *mut ThreadState,
) -> HandlerResult {
    // SAFETY: the frame's code contains the instruction (the handler's contract).
    unsafe {
        let handler = next_handler(ip, regs);
        handler(ip, regs, cx)
    }
}

/// Counts an execution of the point at `ip`; returns the handler to continue with.
///
/// # Safety
/// As for [`warm_up`].
#[inline(never)]
unsafe extern "sysv64-unwind" fn next_handler(ip: *const u64, regs: *mut u64) -> Handler {
    // SAFETY: lowered code is never freed, and the frame's code contains the point.
    let code: &'static LoweredFunction = unsafe { &*frame::code(regs) };
    if code.interpreted.fetch_sub(1, Ordering::Relaxed) == 1 {
        compile(code);
    }
    let point = osr::expect_point(code, ip);
    let handler = point.own_handler.load(Ordering::Acquire);
    if handler == warm_up as *const () as usize {
        return plain_handler(code, point);
    }
    // SAFETY: `own_handler` only holds handlers.
    unsafe { std::mem::transmute::<usize, Handler>(handler) }
}

/// Compiles a function. What stays interpreted gets the handlers of its instructions back.
#[cold]
pub(super) fn compile(code: &'static LoweredFunction) {
    let _section = SignalSafe::enter();
    stack::with_room(|| {
        let _own = internal_work::enter();
        if let Some(compile) = INTERPRETER.compile_hook.get() {
            compile(code);
        }
        let waits =
            |p: &&OsrPoint| p.own_handler.load(Ordering::Relaxed) == warm_up as *const () as usize;
        for point in code.osr_points.iter().filter(waits) {
            osr::replace_handler(code, point, plain_handler(code, point) as usize);
        }
    });
}

/// Returns the handler of the instruction at a point.
fn plain_handler(code: &LoweredFunction, point: &OsrPoint) -> Handler {
    let number = code.ops.partition_point(|&(at, _)| at < point.at);
    INSTRUCTIONS.handlers[usize::from(code.ops[number].1)]
}
