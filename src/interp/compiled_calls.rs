//! Calls between the interpreter and compiled code.
//!
//! A compiled function gets bytecode of its own that calls it by the rules of the ABI, so
//! interpreted callers find it through the reference that they load anyway. Variadic functions keep
//! their interpreted code for interpreted callers: their variable arguments are in a list that
//! cannot be passed to native code.
//!
//! Native callers switch at the function's stub, not here.

use super::frame::{CallSite, FRAME_ALIGN, LoweredFunction, SiteData};
use super::isa::{self, Enc, INSTRUCTIONS, op};
use super::{lower, unwind};
use ompvm_memory::activation;
use ompvm_memory::func::FuncRef;
use ompvm_memory::image::Image;
use ompvm_memory::thread;
use ompvm_memory::{jump, throws};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Makes interpreted callers of a function call its compiled code, through its stub: code that
/// replaces it later reaches them as well.
///
/// # Errors
/// The reason if the signature cannot be called; its callers then stay in the interpreter.
pub fn redirect_callers(func: &FuncRef) -> Result<(), String> {
    let module = &func.image().module;
    let function = &module.functions[func.id];
    let (ret, params, variadic) = function.signature(module);
    if variadic {
        return Ok(());
    }
    let mut starts = Vec::with_capacity(params.len() + 1);
    let mut next = 0u16;
    for &p in params {
        starts.push(next);
        next = next
            .checked_add(lower::words(module, p))
            .ok_or("too many parameters")?;
    }
    starts.push(next);
    let ret_words = lower::words(module, ret);
    let frame = (u32::from(next) + u32::from(ret_words.max(2))) * 8;
    let frame = frame.next_multiple_of(FRAME_ALIGN);
    let plan = func.plan()?;
    let mut code: Vec<u64> = Vec::new();
    let mut sites = Vec::new();
    if let Some(call) = plan.in_registers() {
        let ops = isa::InRegisters::new(&call, 0, func.stub);
        push(&mut code, op::compiled_registers.number, ops);
        let slots = call.words(|w| starts[usize::from(w.argument)] + w.word);
        isa::push_tail(&mut code, &slots);
    } else {
        let site = Box::new(CallSite {
            plan: plan.clone(),
            args: starts[..params.len()].into(),
            words: params.iter().map(|&p| lower::words(module, p)).collect(),
            target: func.stub,
            variadic: None,
            fingerprint: func.fingerprint,
        });
        push_planned_call(&mut code, &site, next, ret_words);
        sites.push(SiteData::Call(site));
    }
    let code = code.into_boxed_slice();
    let lowered: &'static LoweredFunction = Box::leak(Box::new(LoweredFunction {
        entry: code.as_ptr(),
        frame,
        func: func.id,
        image: ptr::from_ref(func.image()) as usize,
        code,
        ops: Box::default(),
        slots: 0,
        baseline_attempted: AtomicBool::new(true),
        interpreted: AtomicU32::new(0),
        pool: Box::default(),
        blocks: Box::default(),
        params: starts.into(),
        ret_words,
        guard: None,
        lines: Vec::new(),
        traced_calls: Box::default(),
        landing_pads: Vec::new(),
        sites,
        osr_points: Box::default(),
        layout: lower::FrameLayout::default(),
    }));
    func.code.store(
        ptr::from_ref(lowered).cast_mut().cast::<c_void>(),
        Ordering::Release,
    );
    super::entry::publish(lowered);
    Ok(())
}

/// Adds the call of a site, with its result at slot `dst`, and the return of this result.
fn push_planned_call(code: &mut Vec<u64>, site: &CallSite, dst: u16, ret_words: u16) {
    let enter = isa::Enter {
        count: 0,
        pool: 0,
        slots: 0,
    };
    push(code, op::enter.number, enter);
    let site = isa::Site {
        dst,
        n: 0,
        site: ptr::from_ref(site) as usize,
    };
    push(code, op::native_plan.number, site);
    let ret = isa::Ret {
        a: dst,
        n: ret_words,
    };
    push(code, op::retn.number, ret);
}

fn push<T: isa::Shape>(code: &mut Vec<u64>, number: u16, ops: T) {
    let at = code.len();
    code.resize(at + size_of::<Enc<T>>() / 8, 0);
    let enc = Enc {
        handler: INSTRUCTIONS.handlers[number as usize],
        ops,
    };
    // SAFETY: `code` was just extended by the words of an `Enc<T>`, which start at `at`.
    unsafe { code.as_mut_ptr().add(at).cast::<Enc<T>>().write(enc) };
}

/// Implements `longjmp` for compiled code.
unsafe extern "C-unwind" fn long_jump(buffer: *const unwind::JumpBuffer, value: i32) -> ! {
    let value = if value == 0 { 1 } else { value as u32 };
    let state = thread::current();
    // SAFETY: the guest promises that the frame that filled the buffer is live, as C requires of
    // `longjmp`.
    unsafe {
        let buffer = &*buffer;
        unwind::long_jump(buffer, value, ptr::null(), state);
        activation::jump(buffer.activation, ptr::from_ref(buffer) as usize)
    }
}

/// Returns the library functions that compiled code must call here instead, by name.
pub fn library_replacements(image: &Image) -> Vec<(&'static str, usize)> {
    let address = long_jump as *const () as usize;
    let long = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"].map(|name| (name, address));
    let set = jump::functions();
    let throw = match image.cpp() {
        Some(library) => library.functions(),
        None => throws::functions(),
    };
    long.into_iter().chain(set).chain(throw).collect()
}
