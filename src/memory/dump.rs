//! Dumps of the program's threads: where each one is, on standard error.
//!
//! A dump is the last thing that a process does. Ctrl-\ (SIGQUIT) asks for one if the program has no
//! action of its own for the signal, and the watchdog asks for one before it ends the process.
//!
//! Only a thread itself can walk its stack while it runs. So the thread that dumps sends SIGQUIT to
//! each thread of the process in turn, and waits until that one has written its frames, as it would
//! for a fault ([`super::signals`]), and has stopped for good. The handlers allocate from the area
//! for descriptions and take no lock of the C library; the list of threads is read from `/proc` by
//! system calls. No thread is started, and until a dump nothing is recorded here.
//!
//! Threads for internal work are left out by their names. A thread that blocks the signal is named
//! without its frames. What an OpenMP thread waits for, `kmpc` knows ([`set_describe_hook`]).

use super::activation::RawTrap;
use super::hooks::HOOKS;
use super::signals::{
    self, LineBuffer, compiled_frame, current_region, is_compiled, locate, print_with_backtrace,
    thread_number, write_backtrace, write_region,
};
use super::thread;
use super::walk::Registers;
use ompvm_support::error::TrapKind;
use ompvm_support::fault_alloc;
use ompvm_support::message::{self, Kind, Message};
use std::ffi::{CStr, c_void};
use std::fmt::{self, Write};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Describes the calling OpenMP thread, which is at `place` in the source (empty if unknown), in
/// lines. Neither allocates from the C library nor waits for a lock.
pub type DescribeHook = fn(place: &str, out: &mut dyn Write) -> Description;

/// Result of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Description {
    /// The lines were written.
    Written,
    /// The thread has nothing to do, so nothing was written.
    Idle,
    /// The thread is none of OpenMP's.
    Unknown,
}

/// Registers the hook that describes OpenMP threads.
pub fn set_describe_hook(hook: DescribeHook) {
    HOOKS.describe.set(hook);
}

/// The dump of a process.
struct Dump {
    /// True once a thread dumps.
    begun: AtomicBool,
    /// The thread that is asked to write its frames; 0 for none.
    asked: AtomicI32,
    /// True once the asked thread has begun to write.
    answered: AtomicBool,
}

/// The dump of this process, which is its end.
static DUMP: Dump = Dump {
    begun: AtomicBool::new(false),
    asked: AtomicI32::new(0),
    answered: AtomicBool::new(false),
};

/// Lets SIGQUIT dump the threads, unless the process ignores the signal.
pub fn install() {
    // SAFETY: reads the signal's action into a local.
    let action = unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(libc::SIGQUIT, ptr::null(), &mut action);
        action.sa_sigaction
    };
    if action == libc::SIG_DFL {
        take_signal();
    }
}

fn take_signal() {
    // SAFETY: a zeroed sigaction is valid; the handler has the SA_SIGINFO signature.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(libc::SIGQUIT, &action, ptr::null_mut());
    }
}

/// Returns the address of the handler, which the program may see as the signal's former action.
pub(super) fn handler() -> usize {
    on_quit as *const () as usize
}

/// Writes where all other threads of the program are, and stops them for good. Returns false if
/// another thread dumps already. The caller ends the process.
pub fn write_others(headline: &str) -> bool {
    if DUMP.begun.swap(true, Ordering::AcqRel) {
        return false;
    }
    // The program's own action for the signal does not matter any more.
    take_signal();
    let _memory = fault_alloc::describing();
    Message::new(Kind::Deadlock, &headline).print();
    each_thread(&mut ask);
    true
}

extern "C" fn on_quit(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives valid pointers.
    let (context, by_thread) = unsafe {
        let own = (*info).si_code == libc::SI_TKILL && (*info).si_pid() == libc::getpid();
        (&*context.cast::<libc::ucontext_t>(), own)
    };
    // SAFETY: the call takes no arguments.
    let me = unsafe { libc::gettid() };
    let _memory = fault_alloc::describing();
    if by_thread && DUMP.asked.load(Ordering::Acquire) == me {
        DUMP.answered.store(true, Ordering::Release);
        write_thread(me, context);
        DUMP.asked.store(0, Ordering::Release);
        stop();
    }
    if DUMP.begun.swap(true, Ordering::AcqRel) {
        stop();
    }
    Message::new(Kind::Dump, &"SIGQUIT: the program's threads are")
        .signal(signal)
        .print();
    each_thread(&mut |thread| match thread.number == me {
        true => write_thread(me, context),
        false => ask(thread),
    });
    signals::die(signal);
}

/// Waits for the end of the process.
fn stop() -> ! {
    loop {
        // SAFETY: has no preconditions.
        unsafe { libc::pause() };
    }
}

/// Standard error, line by line, without allocation.
struct Output(LineBuffer);

impl Output {
    fn new() -> Output {
        Output(LineBuffer::new())
    }

    fn flush(&mut self) {
        write_error(self.0.text().as_bytes());
        self.0 = LineBuffer::new();
    }
}

impl Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive('\n') {
            if self.0.text().len() + part.len() > 1024 {
                self.flush();
            }
            let _ = self.0.write_str(part);
            if part.ends_with('\n') {
                self.flush();
            }
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The description of a thread: written line by line, or collected for a JSON object.
enum Report {
    Text(Output),
    Json(LineBuffer),
}

impl Report {
    fn new() -> Report {
        match message::is_json() {
            true => Report::Json(LineBuffer::new()),
            false => Report::Text(Output::new()),
        }
    }
}

impl Write for Report {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self {
            Report::Text(out) => out.write_str(text),
            Report::Json(out) => out.write_str(text),
        }
    }
}

fn write_error(bytes: &[u8]) {
    // SAFETY: the bytes are live. A message that cannot be written is lost.
    unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
}

/// A thread of the process, as `/proc` lists it.
struct Listed {
    number: i32,
    /// True if the thread blocks SIGQUIT.
    blocks: bool,
}

/// Asks a thread to write its frames, and waits until it has done so.
fn ask(thread: &Listed) {
    /// Milliseconds for which a thread may not answer, and may write.
    const ANSWER: u32 = 1_000;
    const WRITING: u32 = 10_000;
    let silent = |why: &str| {
        let text = format_args!("thread {} {why}", thread.number);
        Message::new(Kind::Thread, &text).print();
    };
    if thread.blocks {
        return silent("of the system blocks SIGQUIT, so it cannot say where it is");
    }
    DUMP.answered.store(false, Ordering::Relaxed);
    DUMP.asked.store(thread.number, Ordering::Release);
    // SAFETY: sends a signal to a thread of this process, if it still exists.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_tgkill,
            libc::getpid(),
            thread.number,
            libc::SIGQUIT,
        )
    };
    let mut waited = 0;
    while sent == 0 && DUMP.asked.load(Ordering::Acquire) != 0 {
        let limit = match DUMP.answered.load(Ordering::Acquire) {
            true => WRITING,
            false => ANSWER,
        };
        if waited >= limit {
            return silent("of the system does not answer");
        }
        waited += 1;
        let nap = libc::timespec {
            tv_sec: 0,
            tv_nsec: 1_000_000,
        };
        // SAFETY: the time is a live local.
        unsafe { libc::nanosleep(&nap, ptr::null_mut()) };
    }
}

unsafe extern "C" {
    /// First byte of the executable, and the end of its code (the linker's symbols).
    static __executable_start: u8;
    static etext: u8;
}

/// Writes where the calling thread is. `context` is what the signal interrupted.
fn write_thread(number: i32, context: &libc::ucontext_t) {
    let from = Registers::of(context);
    let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    let state = thread::current_or_null();
    let compiled = match is_compiled(pc) {
        true => pc,
        false => compiled_frame(from),
    };
    let mut ip = compiled as *const u64;
    // SAFETY: null or this thread's state.
    if let Some(state) = unsafe { state.as_ref() }
        && compiled == 0
        && !state.activation.is_null()
    {
        // Registers hold the interpreter's position while its own code runs. In a library, and in the
        // kernel, the position is that of the call, which is recorded.
        let own = (&raw const __executable_start).addr()..(&raw const etext).addr();
        let registers: [usize; 16] = match own.contains(&pc) {
            true => std::array::from_fn(|i| context.uc_mcontext.gregs[i] as usize),
            false => [0; 16],
        };
        let hook = HOOKS.position.get();
        ip = hook.map_or(ptr::null(), |hook| hook(state, pc, &registers));
        if ip.is_null() {
            ip = state.position();
        }
    }
    let (mut place, mut function) = (LineBuffer::new(), LineBuffer::new());
    locate(ip, &mut place, &mut function);
    let mut out = Report::new();
    let described = match HOOKS.describe.get() {
        Some(hook) => hook(place.text(), &mut out),
        None => Description::Unknown,
    };
    match described {
        Description::Written => {}
        Description::Idle => return,
        Description::Unknown if ip.is_null() => {
            let text = format_args!("thread {number} of the system runs no code of the program");
            Message::new(Kind::Thread, &text).print();
            return;
        }
        Description::Unknown => {
            let _ = write!(out, "ompvm: thread {number} of the system");
            if !place.text().is_empty() {
                let _ = write!(out, " is at {}", place.text());
            }
            let _ = writeln!(out);
        }
    }
    let raw = RawTrap {
        kind: TrapKind::BuiltinTrap,
        ip,
        exception: 0,
        thread: None,
        region: current_region(),
    };
    match out {
        Report::Text(lines) => {
            drop(lines);
            write_backtrace(raw, from);
        }
        Report::Json(lines) => {
            let text = lines.text().trim_end().trim_start_matches("ompvm: ");
            let mut region = LineBuffer::new();
            write_region(raw.region, &mut region);
            let message = Message::new(Kind::Thread, &text)
                .region(region.text())
                .thread(thread_number())
                .place(place.text())
                .function(function.text());
            print_with_backtrace(&message, raw, from);
        }
    }
}

/// Calls `each` for the threads of the process that may belong to the program, in the order of the
/// system's numbers, which is mostly that of their creation.
fn each_thread(each: &mut dyn FnMut(&Listed)) {
    /// Bytes of a read of the list.
    const PART: usize = 8192;
    // SAFETY: a null-terminated path.
    let list = unsafe {
        libc::open(
            c"/proc/self/task".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        )
    };
    if list < 0 {
        return;
    }
    let mut part = [0u8; PART];
    loop {
        // SAFETY: the buffer is as long as the call is told.
        let len =
            unsafe { libc::syscall(libc::SYS_getdents64, list, part.as_mut_ptr(), part.len()) };
        let Some(mut entries) = usize::try_from(len).ok().and_then(|len| part.get(..len)) else {
            break;
        };
        if entries.is_empty() {
            break;
        }
        // An entry: 16 bytes, its length in 2, its type, its name (`struct linux_dirent64`).
        while let Some((&[low, high], _)) =
            entries.get(16..18).and_then(|b| b.split_first_chunk::<2>())
        {
            let length = usize::from(u16::from_le_bytes([low, high]));
            let Some(entry) = entries.get(..length) else {
                break;
            };
            let name = CStr::from_bytes_until_nul(entry.get(19..).unwrap_or(&[]));
            let name = name.ok().and_then(|name| name.to_str().ok());
            if let Some(thread) = name.and_then(|n| n.parse().ok()).and_then(listed) {
                each(&thread);
            }
            entries = &entries[length..];
        }
    }
    // SAFETY: opened above.
    unsafe { libc::close(list) };
}

/// Prefix of the names of threads for internal work.
const INTERNAL: &str = "ompvm";

/// Returns true if this is the name of a thread for internal work, given the thread's number.
pub fn is_internal(number: i32, name: &str) -> bool {
    // SAFETY: the call takes no arguments.
    let first = unsafe { libc::getpid() };
    let rest = name.strip_prefix(INTERNAL);
    number != first && rest.is_some_and(|rest| rest.starts_with([' ', '-']))
}

/// Returns what `/proc` says of a thread; `None` if it does not exist any more, or does internal
/// work.
fn listed(number: i32) -> Option<Listed> {
    let mut path = LineBuffer::new();
    let _ = write!(path, "/proc/self/task/{number}/status\0");
    let mut status = [0u8; 2048];
    // SAFETY: a null-terminated path; the buffer is as long as the call is told.
    let length = unsafe {
        let file = libc::open(
            path.text().as_ptr().cast(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        );
        let length = libc::read(file, status.as_mut_ptr().cast(), status.len());
        libc::close(file);
        usize::try_from(length).ok()?
    };
    // A name need not be UTF-8, and the last line may be cut.
    let lines = || status[..length].split(|&b| b == b'\n');
    let field = |name: &str| {
        let line = lines().find_map(|line| line.strip_prefix(name.as_bytes()))?;
        Some(std::str::from_utf8(line).unwrap_or("").trim())
    };
    if is_internal(number, field("Name:")?) {
        return None;
    }
    let blocked = field("SigBlk:").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    let bit = 1 << (libc::SIGQUIT - 1);
    Some(Listed {
        number,
        blocks: blocked.is_some_and(|mask| mask & bit != 0),
    })
}
