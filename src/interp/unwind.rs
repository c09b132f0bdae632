//! Non-local exits of the guest: C++ exceptions through interpreter frames, setjmp and longjmp.
//!
//! Exceptions use the native unwinder (Itanium C++ ABI): in the search phase an activation reports
//! if one of its frames catches ([`search`]), and in the cleanup phase it lands there. From then on
//! the interpreter walks its own frames ([`land`]). As in the personality routines of libstdc++ and
//! libc++abi, the catch type's own `__do_catch` or `can_catch` decides whether a clause matches.
//! Exceptions of other languages, and of a C++ library that is not the program's, are opaque: only
//! `catch (...)` takes them.

use super::cleanup;
use super::entry;
use super::exec;
use super::frame::{self, LandingPad, LandingPadClause, LoweredFunction};
use super::process::LOCALS;
use ompvm_ir::JUMP_BUFFER;
use ompvm_memory::activation::{self, Activation, Search};
use ompvm_memory::interruption::{self, Interruption};
use ompvm_memory::thread::ThreadState;
use ompvm_memory::throws::{self, Class, Family};
use ompvm_memory::{jump, signal_actions, signals, walk};
use ompvm_support::error::TrapKind;
use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write;
use std::ptr;

/// A position to continue at: instruction and frame.
pub type ResumePoint = (*const u64, *mut u64);

/// The exception for which this thread last searched a handler.
#[derive(Clone, Copy)]
pub(super) struct LastSearch {
    /// The position at which it was thrown.
    ip: *const u64,
    exception: usize,
}

impl LastSearch {
    /// No exception.
    pub(super) const NONE: LastSearch = LastSearch {
        ip: std::ptr::null(),
        exception: 0,
    };
}

/// Returns the exception and the position at which it was thrown, if the abort at `ip` is the end
/// of an uncaught exception.
pub fn uncaught(ip: *const u64) -> Option<(usize, *const u64)> {
    let exception = throws::uncaught()?;
    let last = LOCALS.with(|l| l.last_search.get());
    let ip = match throws::last_thrown(exception) {
        Some(thrown) => thrown.position as *const u64,
        None if last.exception == exception => last.ip,
        // Thrown by a native library.
        None => ip,
    };
    Some((exception, ip))
}

/// Writes the type of an uncaught exception.
pub fn write_type(exception: usize, text: &mut dyn Write) {
    // SAFETY: the exception is caught for good, so it stays alive. The second word of a type info
    // is its mangled name, with a star before it when it is unique by address.
    unsafe {
        if let Some(thrown) = thrown(exception) {
            let name = *(thrown.info as *const *const c_char).add(1);
            let name = if *name == b'*' as c_char {
                name.add(1)
            } else {
                name
            };
            let name = CStr::from_ptr(name).to_string_lossy();
            let _ = text.write_str(plain_type(&name).as_deref().unwrap_or(&name));
        }
    }
}

/// Demangles a type name. The C++ library's demangler is not used, since its allocator may be
/// locked.
fn plain_type(name: &str) -> Option<String> {
    const KIND: &str = "_ZTS";
    let symbol = cpp_demangle::Symbol::new(format!("{KIND}{name}")).ok()?;
    let text = symbol.demangle().ok()?;
    Some(text.strip_prefix("typeinfo name for ")?.to_owned())
}

/// A thrown C++ object.
struct Thrown {
    family: Family,
    /// Its type info.
    info: usize,
    /// Its address.
    object: usize,
}

/// Returns the thrown object of a C++ exception; `None` for exceptions of other languages.
///
/// Field offsets: Itanium C++ ABI, exception handling, sections 1.2 and 2.2.1; of dependent
/// exceptions: libstdc++'s `unwind-cxx.h`, libc++abi's `cxa_exception.h`.
///
/// # Safety
/// `exception` is the address of a live `_Unwind_Exception`.
unsafe fn thrown(exception: usize) -> Option<Thrown> {
    // SAFETY: `exception` is a live _Unwind_Exception; for the classes of C++ libraries the header
    // before it is a __cxa_exception (80 bytes down to exceptionType) or a dependent one.
    unsafe {
        let class = Class::parse(*(exception as *const u64))?;
        let word = |at: usize| *(at as *const usize);
        let (info, object) = match (class.dependent, class.family) {
            (false, _) => (word(exception - 80), exception + 32),
            // The object's address takes the place of the type, which is in the object's own
            // header.
            (true, Family::Gnu) => {
                let object = word(exception - 80);
                (word(object - 112), object)
            }
            // The object's address precedes the type.
            (true, Family::Clang) => (word(exception - 80), word(exception - 88)),
        };
        Some(Thrown {
            family: class.family,
            info,
            object,
        })
    }
}

/// Returns the function at an index of a type info's vtable.
///
/// # Safety
/// `info` is the address of a type info whose vtable has more than `index` functions.
unsafe fn virtual_function(info: usize, index: usize) -> usize {
    // SAFETY: a type info begins with the address of its vtable, which has the function (the
    // caller's contract).
    unsafe { *(*(info as *const *const usize)).add(index) }
}

/// Returns the adjusted address of the object if `catch` takes it.
///
/// # Safety
/// `catch` is the address of a type info of the library that threw, `thrown` of a live exception.
unsafe fn matches(catch: usize, thrown: &Thrown) -> Option<usize> {
    type Catches = unsafe extern "C" fn(usize, usize, *mut usize, u32) -> bool;
    // SAFETY: the vtables of libstdc++'s type infos begin with the two destructors,
    // `__is_pointer_p`, `__is_function_p` and `__do_catch`. Those of libc++abi have two functions
    // that do nothing in the middle, and end with `can_catch`, which takes one argument less.
    unsafe {
        let mut object = adjusted(thrown);
        let catches: Catches = std::mem::transmute(virtual_function(catch, 4));
        catches(catch, thrown.info, &mut object, 1).then_some(object)
    }
}

/// Returns true if `catch` is the type that stands for an exception without a C++ object. libstdc++
/// has one for the forced unwinding of an ending thread, and one for the exceptions of other
/// languages (`cxxabi_forced.h`, `cxxabi.h`).
///
/// # Safety
/// `catch` is the address of a type info, `exception` that of a live `_Unwind_Exception`.
unsafe fn stands_for(catch: usize, family: Family, exception: usize) -> bool {
    if family != Family::Gnu {
        return false;
    }
    // SAFETY: the second word of a type info is its mangled name. The third word of an
    // `_Unwind_Exception` is the stop function of a forced unwind, null otherwise (libgcc,
    // unwind.inc).
    unsafe {
        let name = CStr::from_ptr(*(catch as *const *const c_char).add(1)).to_bytes();
        name == match *(exception as *const usize).add(2) {
            0 => &b"N10__cxxabiv119__foreign_exceptionE"[..],
            _ => b"N10__cxxabiv115__forced_unwindE",
        }
    }
}

/// Returns the kind of C++ library that a function's program was linked with.
fn family_of(code: &LoweredFunction) -> Family {
    code.image().cpp().map_or(Family::Gnu, |l| l.family)
}

/// Returns the selector with which a pad takes an exception, and the adjusted address. `family` is
/// the kind of the program's C++ library; exceptions of the other kind have no type here.
///
/// # Safety
/// The pad's type infos are the program's, and `exception` is as for [`thrown`].
unsafe fn select_clause(
    pad: &LandingPad,
    family: Family,
    exception: usize,
) -> Option<(i32, Option<usize>)> {
    // SAFETY: the exception is live (the caller's contract).
    let thrown = unsafe { thrown(exception) }.filter(|t| t.family == family);
    for clause in &pad.clauses {
        match clause {
            &LandingPadClause::Catch { info: 0, number } => {
                return Some((
                    number,
                    Some(thrown.map_or(exception + 32, |t| {
                        // SAFETY: as in `matches`: a pointer object is caught by its value.
                        unsafe { adjusted(&t) }
                    })),
                ));
            }
            &LandingPadClause::Catch { info, number } => {
                // SAFETY: the pad's type infos are the program's, and the exception is live (the
                // caller's contract).
                let object = unsafe {
                    match &thrown {
                        Some(t) => matches(info, t),
                        None => stands_for(info, family, exception).then_some(exception + 32),
                    }
                };
                if object.is_some() {
                    return Some((number, object));
                }
            }
            LandingPadClause::Filter(allowed) => {
                let through = thrown.as_ref().is_some_and(|t| {
                    allowed.iter().any(|&info| {
                        // SAFETY: the pad's type infos are the program's (the caller's contract).
                        unsafe { matches(info, t) }.is_some()
                    })
                });
                if !through {
                    return Some((-1, thrown.map(|t| t.object)));
                }
            }
        }
    }
    pad.cleanup.then_some((0, None))
}

/// Returns the address that a type info is asked about and that a `catch (...)` handler gets: for
/// libstdc++ the value of a pointer object, otherwise the object's own address.
///
/// # Safety
/// `thrown` describes a live exception.
unsafe fn adjusted(thrown: &Thrown) -> usize {
    type IsPointer = unsafe extern "C" fn(usize) -> bool;
    if thrown.family == Family::Clang {
        return thrown.object;
    }
    // SAFETY: the vtable of libstdc++'s type infos is as in `matches`; a pointer object is an
    // address at the place that the header names.
    unsafe {
        let is_pointer: IsPointer = std::mem::transmute(virtual_function(thrown.info, 2));
        if is_pointer(thrown.info) {
            *(thrown.object as *const usize)
        } else {
            thrown.object
        }
    }
}

fn pad_at(code: &LoweredFunction, ip: *const u64, innermost: bool) -> Option<&LandingPad> {
    let off = (ip as usize).wrapping_sub(code.code.as_ptr() as usize) as u32;
    let exact = code.landing_pads.iter().find(|p| {
        if innermost {
            p.call == off
        } else {
            p.after == off
        }
    });
    exact.or_else(|| {
        let interrupted = innermost && ip as usize == LOCALS.with(|l| l.interrupted.get());
        interrupted.then(|| pad_around(code, off)).flatten()
    })
}

/// Returns the landing pad that compiled code would have at an instruction which calls nothing: its
/// tables describe ranges, and those of two calls in a row with the same pad are one.
fn pad_around(code: &LoweredFunction, off: u32) -> Option<&LandingPad> {
    let pads = || code.landing_pads.iter();
    let before = pads().filter(|p| p.call < off).max_by_key(|p| p.call)?;
    let behind = pads().filter(|p| p.call > off).min_by_key(|p| p.call)?;
    (before.block == behind.block).then_some(before)
}

/// Stores in an activation where a fault interrupted its frames, if the handler of the fault throws
/// the exception that is searched. The walk of the stack takes some 60 us, so only programs that
/// handle faults pay for it.
fn record_interruption(act: &mut Activation) {
    if !signal_actions::guest_handles_faults() {
        return;
    }
    // SAFETY: the unwinder met the activation on its way out of the current stack.
    let Some(Interruption { registers, sp }) = (unsafe { interruption::of(act) }) else {
        return;
    };
    let pc = registers.position();
    if !walk::function_start(pc).is_some_and(entry::is_leavable) {
        // A function of the interpreter, before whose call the instruction stored its position.
        LOCALS.with(|l| l.interrupted.set(act.ip as usize));
        return;
    }
    // SAFETY: a thread that unwinds guest frames has a state.
    let state = unsafe { &*ompvm_memory::thread::current_or_null() };
    let ip = entry::fault_position(state, pc, &registers.in_context_order());
    let Some(regs) = ompvm_memory::thread::frame_at(sp as usize, &walk::read) else {
        return;
    };
    let regs = ptr::with_exposed_provenance_mut::<u64>(regs);
    // SAFETY: the guest's stack pointer leads to the running frame, which has a header.
    let running = unsafe { frame::code(regs).as_ref() };
    if running.is_some_and(|code| code.contains(ip)) {
        (act.ip, act.frame, act.sp) = (ip, regs.cast(), sp);
        LOCALS.with(|l| l.interrupted.set(ip as usize));
    }
}

/// Answers the search phase for an activation's frames.
pub fn search(act: &mut Activation, exception: *mut c_void) -> Search {
    record_interruption(act);
    let mut found = Search::Nothing;
    // SAFETY: the activation is live, and so are its frames and their code.
    unsafe {
        let mut regs = act.frame.cast::<u64>();
        let mut ip = act.ip;
        let cx = ompvm_memory::thread::current_or_null();
        if !cx.is_null() && std::ptr::eq((*cx).activation, act) {
            let exception = exception as usize;
            LOCALS.with(|l| l.last_search.set(LastSearch { ip, exception }));
        }
        let mut innermost = true;
        while !regs.is_null() && !frame::code(regs).is_null() {
            let code = &*frame::code(regs);
            // The rest of the function runs in compiled code, which does not check this frame's
            // guard before it throws.
            if let Some((off, fail)) = code.guard
                && innermost
                && ip == code.entry
            {
                exec::check_guards(regs.byte_add(off as usize), usize::MAX, fail);
            }
            if let Some(pad) = pad_at(code, ip, innermost) {
                match select_clause(pad, family_of(code), exception as usize) {
                    Some((0, _)) => found = Search::Cleanup,
                    Some(_) => return Search::Handler,
                    None => {}
                }
            }
            ip = frame::return_ip(regs);
            regs = frame::caller(regs);
            innermost = false;
        }
    }
    found
}

/// Finds the landing position of an exception among the frames from `regs` outwards. `innermost` is
/// true if `ip` is the call itself rather than the instruction after it. Sets the thread's stack
/// pointer for the landing frame.
///
/// # Safety
/// The frames belong to the current activation.
unsafe fn land_from(
    mut regs: *mut u64,
    mut ip: *const u64,
    mut innermost: bool,
    exception: usize,
    cx: *mut ThreadState,
) -> Option<ResumePoint> {
    // SAFETY: the frames are the current activation's, hence live (the caller's contract).
    unsafe {
        while !regs.is_null() && !frame::code(regs).is_null() {
            if let Some(buffer) = cleanup::take_buffer(regs, exception) {
                let buffer = &*buffer;
                *regs.add(buffer.dst as usize) = 1;
                (*cx).sp = buffer.sp;
                return Some((buffer.ip, regs));
            }
            let code = &*frame::code(regs);
            if let Some(pad) = pad_at(code, ip, innermost)
                && let Some((selector, object)) = select_clause(pad, family_of(code), exception)
            {
                if let Some(object) = object
                    && thrown(exception).is_some_and(|t| t.family == family_of(code))
                {
                    *((exception - 8) as *mut usize) = object;
                }
                let out = regs.add(pad.dst as usize);
                out.write(exception as u64);
                out.add(1).write(u64::from(selector as u32));
                let ip = code.code.as_ptr().byte_add(pad.land as usize);
                return Some((ip, regs));
            }
            (*cx).sp = frame::saved_sp(regs);
            ip = frame::return_ip(regs);
            regs = frame::caller(regs);
            innermost = false;
        }
    }
    None
}

/// Lands an exception that left a native call of the innermost frame.
///
/// # Safety
/// `act` is the thread's innermost activation, and its frames are live.
pub unsafe fn land_native(
    act: &Activation,
    exception: usize,
    cx: *mut ThreadState,
) -> Option<ResumePoint> {
    // SAFETY: the activation is the innermost and its frames are live (the caller's contract).
    unsafe { land_from(act.frame.cast(), act.ip, true, exception, cx) }
}

/// Lands an exception that the frame at `regs` resumed.
///
/// # Safety
/// As for [`land_native`].
pub unsafe fn land(regs: *mut u64, exception: usize, cx: *mut ThreadState) -> Option<ResumePoint> {
    // SAFETY: the activation is the innermost and its frames are live (the caller's contract).
    unsafe {
        (*cx).sp = frame::saved_sp(regs);
        land_from(
            frame::caller(regs),
            frame::return_ip(regs),
            false,
            exception,
            cx,
        )
    }
}

/// The value of a jump to an activation that resumes unwinding.
pub const RESUME_UNWINDING: usize = 0;

/// Leaves the activation with an exception that none of its frames catches.
///
/// # Safety
/// Runs inside the thread's innermost activation.
pub unsafe fn leave_activation(exception: usize, cx: *mut ThreadState) -> ! {
    // SAFETY: handlers own nothing that needs dropping; the activation's entry handles
    // `RESUME_UNWINDING`.
    unsafe {
        let act = (*cx).activation;
        (*act).interp[1] = exception;
        activation::jump(act, RESUME_UNWINDING)
    }
}

const MAGIC: u64 = 0x6f6d_7076_6d6a_6d70;

/// The contents of a guest's `jmp_buf` (200 bytes in glibc).
#[repr(C)]
#[derive(Debug)]
pub struct JumpBuffer {
    magic: u64,
    /// The activation that filled the buffer.
    pub activation: *mut Activation,
    /// The frame that called setjmp.
    pub regs: *mut u64,
    /// The instruction after setjmp.
    pub ip: *const u64,
    pub(super) sp: *mut u8,
    pub(super) dst: u32,
    has_mask: u32,
    mask: libc::sigset_t,
}

const _: () = assert!(size_of::<JumpBuffer>() <= JUMP_BUFFER as usize);

/// Fills a jump buffer.
///
/// # Safety
/// The buffer is the guest's; otherwise as for a [`exec::Handler`].
pub unsafe fn set_jump(
    buffer: *mut JumpBuffer,
    mask: bool,
    after: *const u64,
    regs: *mut u64,
    dst: u16,
    cx: *mut ThreadState,
) {
    // SAFETY: the buffer is the guest's, and `cx` runs inside an activation (the caller's
    // contract).
    unsafe {
        (*buffer).magic = MAGIC;
        (*buffer).activation = (*cx).activation;
        (*buffer).regs = regs;
        (*buffer).ip = after;
        (*buffer).sp = (*cx).sp;
        (*buffer).dst = u32::from(dst);
        (*buffer).has_mask = u32::from(mask);
        if mask {
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut (*buffer).mask);
        }
    }
}

/// Jumps to where a buffer was filled, by whichever tier; returns if that is in the current
/// activation of the interpreter. Messages name `ip` or, if it is null, the innermost compiled
/// frame.
///
/// # Safety
/// As for [`set_jump`]; the frame that filled the buffer is still live.
pub unsafe fn long_jump(buffer: &JumpBuffer, value: u32, ip: *const u64, cx: *mut ThreadState) {
    if buffer.magic != MAGIC {
        // SAFETY: the buffer is live and `cx` is this thread's state (the caller's contract).
        unsafe {
            if let Some(compiled) = jump::Buffer::at(ptr::from_ref(buffer).cast()) {
                cleanup::drop_buffers_below(compiled.stack() as *mut u64);
                compiled.resume(value as i32)
            }
            signals::raise_trap(TrapKind::BadJump, ip)
        }
    }
    // SAFETY: the frame that filled the buffer is live (the caller's contract).
    unsafe {
        if buffer.has_mask != 0 {
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const buffer.mask,
                std::ptr::null_mut(),
            );
        }
        cleanup::drop_buffers_below(buffer.regs);
        *buffer.regs.add(buffer.dst as usize) = u64::from(value);
        if (*cx).activation == buffer.activation {
            (*cx).sp = buffer.sp;
            return;
        }
        activation::jump(buffer.activation, std::ptr::from_ref(buffer) as usize)
    }
}

/// Returns the position at which a jump that reached its activation continues.
///
/// # Safety
/// `buffer` was passed by [`long_jump`] and filled in the activation that runs now; `cx` is the
/// thread's state.
pub unsafe fn resume_jump(buffer: usize, cx: *mut ThreadState) -> ResumePoint {
    // SAFETY: the buffer was filled in the running activation (the caller's contract).
    unsafe {
        let buffer = &*(buffer as *const JumpBuffer);
        (*cx).sp = buffer.sp;
        (buffer.ip, buffer.regs)
    }
}
