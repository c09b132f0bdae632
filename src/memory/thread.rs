//! Per-thread state of the guest: its position, the end of its stack, its thread_local blocks.
//!
//! The state is made at the first entry into guest code on a thread, no matter which code created
//! the thread, and freed when the thread ends. The destructor runs in the last round of pthread-key
//! destructors, so that the guest's own destructors (pthread keys, C++ thread_local) still find
//! their data.
//!
//! The OpenMP numbers of threads belong to `kmpc`.

use super::activation::Activation;
use super::current;
use super::fuel::Share;
use super::image::Image;
use super::signal_safe::{SignalSafe, SignalsBlocked};
use super::stack::{self, Stack};
use super::throws::{Globals, Thrown};
use super::trampoline::HeldPool;
use super::worker::{self, SIGNAL_STACK};
use ompvm_support::internal_work;
use std::alloc::Layout;
use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The per-thread state. The interpreter reads and writes the first fields directly.
#[repr(C)]
#[derive(Debug)]
pub struct ThreadState {
    /// The lowest byte that guest frames use on the running stack; they grow down.
    pub sp: *mut u8,
    /// The lowest address for slot 0 of a guest frame before the activation needs more room.
    pub limit: *mut u8,
    /// The block of thread_locals of the image used last; see [`tls_block`].
    pub tls: *mut u8,
    /// The serial number of the image of `tls`; 0 for none.
    pub tls_serial: u64,
    /// The innermost activation; null if no guest code runs on this thread. After the program
    /// switched stacks inside compiled code it may belong to another stack until interpreted code
    /// continues.
    pub activation: *mut Activation,
    /// The innermost activation that catches traps.
    pub catcher: *mut Activation,
    /// Storage for the interpreter.
    pub interp: [usize; 6],
    /// The thread's share of the fuel of the program that it executes.
    pub fuel: Share,
    /// Slot 0 of the frame whose native call is in progress.
    pub native_call_frame: *mut u64,
    /// The stack that the system made for the thread.
    stack: Range<usize>,
    /// The stack for internal work while the program runs on a small stack of its own.
    work_stack: Option<Stack>,
    /// For a first thread whose own stack may become too short: the stack's start, the address
    /// below which calls continue on the overflow stack, and the stack's end. Zeros otherwise.
    pub(super) overflow_bounds: [usize; 3],
    /// The stack on which calls continue when the thread's own is used up.
    overflow_stack_memory: Option<Stack>,
    blocks: Vec<TlsBlock>,
    rounds: u32,
    signal_stack: *mut c_void,
    /// True if the signal stack is a mapping of its own.
    owns_signal_stack: bool,
    /// The alternate signal stack that the guest installed (address, bytes); 0 bytes for none.
    pub alternate: (usize, usize),
    /// The activation of a call of a leaf function from outside of guest code.
    pub(super) leaf_activation: Activation,
    /// The innermost run of an embedded program, which its owner defines; null if there is none.
    pub embedded_run: *mut c_void,
    /// The reason for which the thread is to leave the guest; null if nobody can ask it to.
    pub request: *const super::interrupt::Request,
    /// The record of the process's own C++ library ([`super::throws`]); null before the first use.
    pub(super) cpp_record: *mut Globals,
    /// True once it is decided whether allocations of this thread are recorded ([`super::heap`]).
    pub(super) recording_decided: bool,
}

#[derive(Debug)]
struct TlsBlock {
    serial: u64,
    block: *mut u8,
    layout: Layout,
}

/// The least bytes of a block of thread_locals that is a mapping of its own. Smaller ones come from
/// the heap for signal handlers, whose range is limited.
const MAPPED_BLOCK: usize = 128 << 10;

impl TlsBlock {
    /// Makes a block with the initial contents `bytes`.
    fn new(serial: u64, bytes: &[u8], align: usize) -> TlsBlock {
        let layout = Layout::from_size_align(bytes.len().max(1), align.max(16))
            .unwrap_or_else(|e| ompvm_support::bug!("thread_local block: {e}"));
        let mut made = TlsBlock {
            serial,
            block: ptr::null_mut(),
            layout,
        };
        // SAFETY: the size is not zero; a fresh mapping, or a fresh block, is as long as the
        // template.
        unsafe {
            if made.is_mapped() {
                let access = libc::PROT_READ | libc::PROT_WRITE;
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                let map = libc::mmap(ptr::null_mut(), layout.size(), access, flags, -1, 0);
                if map != libc::MAP_FAILED {
                    made.block = map.cast();
                }
            } else {
                made.block = std::alloc::alloc(layout);
            }
            if made.block.is_null() {
                std::alloc::handle_alloc_error(layout);
            }
            ptr::copy_nonoverlapping(bytes.as_ptr(), made.block, bytes.len());
        }
        made
    }

    fn is_mapped(&self) -> bool {
        self.layout.size() >= MAPPED_BLOCK && self.layout.align() <= PAGE
    }

    /// Frees the block.
    ///
    /// # Safety
    /// Nothing uses the block any more, and it is freed once.
    unsafe fn free(&self) {
        // SAFETY: mapped or allocated by `new`, and unused by contract.
        unsafe {
            if self.is_mapped() {
                libc::munmap(self.block.cast(), self.layout.size());
            } else {
                std::alloc::dealloc(self.block, self.layout);
            }
        }
    }
}

/// This crate's variables of a thread that exist before and after its [`ThreadState`]. Without a
/// destructor, so that each access is one load at a fixed distance from the thread pointer, and
/// destructors of other variables may run guest code.
pub(super) struct ThreadLocals {
    /// Blocks of the first images that have compiled code; null before the first use.
    fast: [Cell<*mut u8>; FAST_CELLS],
    /// True if allocations of this thread are recorded ([`super::heap`]).
    pub(super) records_allocations: Cell<bool>,
    /// The last exception that compiled code threw.
    pub(super) last_thrown: Cell<Option<Thrown>>,
    /// The reserved stack for signals of a worker; null on other threads.
    pub(super) worker_signals: Cell<*mut c_void>,
    /// The lowest byte of a worker's stack, which ends below `worker_signals`.
    pub(super) worker_stack: Cell<*mut c_void>,
    /// The thread's signal mask before its outermost section of [`super::signal_safe`]; `None`
    /// outside of sections.
    pub(super) signals_before_section: Cell<Option<libc::sigset_t>>,
    /// The lock on the trampolines while this thread forks.
    pub(super) held_trampolines: Cell<Option<HeldPool>>,
}

thread_local! {
    /// The variables of the calling thread.
    pub(super) static LOCALS: ThreadLocals = const {
        ThreadLocals {
            fast: [const { Cell::new(ptr::null_mut()) }; FAST_CELLS],
            records_allocations: Cell::new(false),
            last_thrown: Cell::new(None),
            worker_signals: Cell::new(ptr::null_mut()),
            worker_stack: Cell::new(ptr::null_mut()),
            signals_before_section: Cell::new(None),
            held_trampolines: Cell::new(None),
        }
    };
}

const _: () = assert!(!std::mem::needs_drop::<ThreadLocals>());

/// Number of images whose thread_locals compiled code reaches with one load. Cells are never
/// released.
const FAST_CELLS: usize = 16;

/// Claims a cell for an image; `None` if all are taken.
pub(super) fn take_fast_cell() -> Option<usize> {
    let n = THREADS.next_fast_cell.fetch_add(1, Ordering::Relaxed);
    (n < FAST_CELLS).then_some(n)
}

/// Returns the distance from the thread pointer to cell `index`, if it is the same on every thread.
/// It is in an executable and the libraries loaded at its start, whose variables lie right below
/// the thread pointer (ELF TLS, variant II); the variables of libraries opened later are on the
/// heap.
pub fn fast_cell_offset(index: usize) -> Option<isize> {
    let base: isize;
    // SAFETY: the first word of the x86-64 thread control block is its own address.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) base, options(nostack, readonly)) };
    let offset = LOCALS.with(|l| ptr::from_ref(&l.fast[index]) as isize - base);
    (-(1 << 20)..0).contains(&offset).then_some(offset)
}

/// Returns the calling thread's block of an image and fills its cell; compiled code calls this if
/// the cell is empty.
///
/// # Safety
/// `image` is a live image.
pub unsafe extern "C" fn fast_block(image: *const Image) -> *mut u8 {
    // SAFETY: the image is live by contract; `current` returns this thread's state.
    unsafe {
        let block = tls_block(current(), &*image);
        if let Some(index) = (*image).fast_tls() {
            LOCALS.with(|l| l.fast[index].set(block));
        }
        block
    }
}

/// A thread's entry in the registry that other threads read. Never freed; later threads reuse it.
struct ThreadEntry {
    state: AtomicPtr<ThreadState>,
    /// Number of threads that are reading the state.
    readers: AtomicUsize,
    next: *const ThreadEntry,
}

/// The threads of a process that have run guest code.
struct Threads {
    /// The entries; later ones come first.
    entries: AtomicPtr<ThreadEntry>,
    /// The next cell for an image's thread_locals; see [`take_fast_cell`].
    next_fast_cell: AtomicUsize,
    /// The key whose destructor frees a thread's state.
    key: OnceLock<libc::pthread_key_t>,
}

/// The threads of this process. A thread may run code of several programs, by one state.
static THREADS: Threads = Threads {
    entries: AtomicPtr::new(ptr::null_mut()),
    next_fast_cell: AtomicUsize::new(0),
    key: OnceLock::new(),
};

fn threads() -> impl Iterator<Item = &'static ThreadEntry> {
    let mut at = THREADS.entries.load(Ordering::Acquire).cast_const();
    std::iter::from_fn(move || {
        // SAFETY: entries are never freed.
        let entry = unsafe { at.as_ref() }?;
        at = entry.next;
        Some(entry)
    })
}

fn register_thread(state: *mut ThreadState) {
    let free = threads().any(|s| {
        let taken =
            s.state
                .compare_exchange(ptr::null_mut(), state, Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok()
    });
    if free {
        return;
    }
    let entry = Box::into_raw(Box::new(ThreadEntry {
        state: AtomicPtr::new(state),
        readers: AtomicUsize::new(0),
        next: ptr::null(),
    }));
    let list = &THREADS.entries;
    let mut head = list.load(Ordering::Acquire);
    loop {
        // SAFETY: the entry is not published yet, so this thread has it alone.
        unsafe { (*entry).next = head };
        match list.compare_exchange_weak(head, entry, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

/// Unregisters the thread. Returns `false` if a reader does not finish (one may be left over from
/// before a `fork`), so that the state must not be freed.
fn unregister_thread(state: *mut ThreadState) -> bool {
    let Some(entry) = threads().find(|s| s.state.load(Ordering::Acquire) == state) else {
        return true;
    };
    entry.state.store(ptr::null_mut(), Ordering::SeqCst);
    for _ in 0..10_000 {
        if entry.readers.load(Ordering::SeqCst) == 0 {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

/// Tag of the word at a guest's stack pointer below memory that a frame allocated; the rest of the
/// word is the address of the frame's slot 0. An untagged word is the lowest of a frame's header, a
/// multiple of 16.
pub const ALLOCATED: usize = 1;
/// Words of a frame's header.
pub const HEADER: usize = 6;

/// Calls `look` for each thread that executes guest code outside of native calls, with the word of
/// the frame's header that names its code (the third below slot 0). The thread keeps running
/// meanwhile, so the word may be anything.
pub fn sample_frames(look: &mut dyn FnMut(usize)) {
    for entry in threads() {
        entry.readers.fetch_add(1, Ordering::SeqCst);
        let state = entry.state.load(Ordering::SeqCst);
        if !state.is_null() {
            // SAFETY: a thread frees its state only when its registry entry has no reader, and its
            // own stack is mapped as long as the state lives, at least the part that a stack
            // pointer was seen in. Other stacks may be unmapped at any time, so the system reads
            // them.
            unsafe {
                let sp = (&raw const (*state).sp).read_volatile() as usize;
                let running = !(&raw const (*state).activation).read_volatile().is_null();
                let own = &(*state).stack;
                let word = |at: usize| -> Option<usize> {
                    if !at.is_multiple_of(8) || at == 0 {
                        None
                    } else if (sp..own.end - 8).contains(&at) && own.contains(&sp) {
                        Some((at as *const usize).read_volatile())
                    } else {
                        stack::read(at)
                    }
                };
                if running && let Some(regs) = frame_at(sp, &word) {
                    let native_call_frame =
                        (&raw const (*state).native_call_frame).read_volatile() as usize;
                    if regs != native_call_frame
                        && let Some(code) = word(regs.wrapping_sub(24))
                    {
                        look(code);
                    }
                }
            }
        }
        entry.readers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Excludes this thread from [`sample_frames`] while it lives: for a guest's thread that waits for
/// internal work.
#[derive(Debug)]
pub struct UnsampledWait(Option<(*mut ThreadState, *mut u64)>);

impl UnsampledWait {
    /// Marks the innermost guest frame of this thread, if there is one, as one that waits.
    pub fn enter() -> Self {
        let state = current_or_null();
        if state.is_null() {
            return Self(None);
        }
        // SAFETY: the state is this thread's own, and alive as long as the thread. Memory that may
        // be unmapped is read by the system.
        unsafe {
            let frame = match (*state).activation.is_null() {
                true => None,
                false => frame_at((*state).sp as usize, &stack::read),
            };
            Self(frame.map(|slots| {
                let outer = &raw mut (*state).native_call_frame;
                (state, std::mem::replace(&mut *outer, slots as *mut u64))
            }))
        }
    }
}

impl Drop for UnsampledWait {
    fn drop(&mut self) {
        if let Some((state, outer)) = self.0 {
            // SAFETY: as in `enter`. The thread is the same, since the wait calls no guest code.
            unsafe { (*state).native_call_frame = outer };
        }
    }
}

/// Returns slot 0 of the guest frame that a guest stack pointer belongs to, reading memory by
/// `word`.
pub fn frame_at(sp: usize, word: &dyn Fn(usize) -> Option<usize>) -> Option<usize> {
    let lowest = word(sp)?;
    Some(match lowest & ALLOCATED {
        0 => sp + HEADER * 8,
        _ => lowest - ALLOCATED,
    })
}

/// Returns this thread's state, made at the first call.
#[inline]
pub fn current() -> *mut ThreadState {
    let p = current::get();
    if p.is_null() { make() } else { p }
}

/// Returns this thread's state, or null if no guest code has run on it. Each call looks again, since
/// guest code may continue on another thread.
#[inline]
pub fn current_or_null() -> *mut ThreadState {
    current::get()
}

/// Returns this thread's copy of `image`'s thread_locals, made at the first use.
///
/// # Safety
/// `state` is this thread's state.
#[inline]
pub unsafe fn tls_block(state: *mut ThreadState, image: &Image) -> *mut u8 {
    // SAFETY: the state is this thread's by contract, and alive as long as the thread.
    unsafe {
        if (*state).tls_serial == image.serial() {
            (*state).tls
        } else {
            tls_slow(state, image)
        }
    }
}

/// Finds or makes the block, and makes it the one used last.
///
/// # Safety
/// `state` is this thread's state, as for [`tls_block`].
#[cold]
#[inline(never)]
unsafe fn tls_slow(state: *mut ThreadState, image: &Image) -> *mut u8 {
    // SAFETY: the state is this thread's, and no other reference to it exists here.
    let state = unsafe { &mut *state };
    let serial = image.serial();
    let block = state.block(serial).unwrap_or_else(|| {
        let _section = SignalSafe::enter();
        // A handler may have made the block meanwhile.
        state.block(serial).unwrap_or_else(|| {
            let (bytes, align) = image.tls_template();
            let block = TlsBlock::new(serial, bytes, align);
            let start = block.block;
            state.blocks.push(block);
            start
        })
    });
    state.tls = block;
    state.tls_serial = serial;
    block
}

/// Frees this thread's block of an image that is being dropped.
pub(super) fn forget_image(serial: u64) {
    let p = current::get();
    if p.is_null() {
        return;
    }
    // SAFETY: this thread's state; none of the image's code runs any more.
    let state = unsafe { &mut *p };
    if state.tls_serial == serial {
        state.tls = ptr::null_mut();
        state.tls_serial = 0;
    }
    state.blocks.retain(|b| {
        if b.serial == serial {
            // SAFETY: none of the image's code runs any more.
            unsafe { b.free() };
        }
        b.serial != serial
    });
}

fn key() -> libc::pthread_key_t {
    *THREADS.key.get_or_init(|| {
        let mut key = 0;
        // SAFETY: fills the local; the destructor has the right type.
        let rc = unsafe { libc::pthread_key_create(&mut key, Some(at_thread_exit)) };
        assert!(rc == 0, "no pthread key is left for guest threads");
        key
    })
}

/// Returns true if the calling thread is the process's first.
pub fn is_main() -> bool {
    // SAFETY: system calls without preconditions.
    unsafe { libc::syscall(libc::SYS_gettid) == libc::c_long::from(libc::getpid()) }
}

const PAGE: usize = 4096;

/// Bytes of a short stack that are left for native functions.
const NATIVE_RESERVE: usize = 256 << 10;

#[cold]
#[inline(never)]
fn make() -> *mut ThreadState {
    // A handler of this thread finds either no state or a complete one.
    let _section = SignalSafe::enter();
    let known = current_or_null();
    if !known.is_null() {
        return known;
    }
    let reserved = worker::signal_stack();
    let state = Box::new(ThreadState {
        sp: ptr::null_mut(),
        limit: ptr::null_mut(),
        tls: ptr::null_mut(),
        tls_serial: 0,
        activation: ptr::null_mut(),
        catcher: ptr::null_mut(),
        interp: [0; 6],
        fuel: Share::NONE,
        native_call_frame: ptr::null_mut(),
        stack: 0..0,
        work_stack: None,
        overflow_bounds: [0; 3],
        overflow_stack_memory: None,
        blocks: Vec::new(),
        rounds: 0,
        signal_stack: reserved,
        owns_signal_stack: reserved.is_null(),
        alternate: (0, 0),
        leaf_activation: Activation::for_leaf(ptr::null_mut()),
        embedded_run: ptr::null_mut(),
        request: ptr::null(),
        cpp_record: ptr::null_mut(),
        recording_decided: false,
    });
    let p = Box::into_raw(state);
    current::set(p);
    // SAFETY: the key exists; the state was just made; the alternate stack is a fresh mapping.
    unsafe {
        (*p).leaf_activation.state = p;
        (*p).stack = worker::own_stack().unwrap_or_else(|| {
            // The query allocates in the C library, which must not call the guest's allocator.
            let _own = internal_work::enter();
            stack::own()
        });
        (*p).find_stack_shortage();
        libc::pthread_setspecific(key(), p.cast());
        if reserved.is_null() {
            let m = libc::mmap(
                ptr::null_mut(),
                SIGNAL_STACK,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if m != libc::MAP_FAILED {
                (*p).signal_stack = m;
            }
        }
        if !(*p).signal_stack.is_null() {
            use_signal_stack(p);
        }
    }
    register_thread(p);
    p
}

/// Installs the thread's own alternate signal stack.
///
/// # Safety
/// `state` is this thread's state.
pub(super) unsafe fn use_signal_stack(state: *mut ThreadState) {
    // SAFETY: the mapping lives as long as the thread.
    unsafe {
        let ss = libc::stack_t {
            ss_sp: (*state).signal_stack,
            ss_flags: 0,
            ss_size: SIGNAL_STACK,
        };
        libc::sigaltstack(&ss, ptr::null_mut());
    }
}

extern "C" fn at_thread_exit(state: *mut c_void) {
    // SAFETY: `make` stored the pointer on this thread; pthread runs at least four rounds of
    // destructors while values are set again (POSIX, PTHREAD_DESTRUCTOR_ITERATIONS), so the state
    // lives until the third. Then no reference is left: this thread clears `current`, and readers
    // of its registry entry were waited for. Its blocks were allocated with their layouts, and no
    // signal handler runs here, so the signal stack is not in use when it is unmapped.
    unsafe {
        let state: *mut ThreadState = state.cast();
        (*state).rounds += 1;
        if (*state).rounds < 3 {
            libc::pthread_setspecific(key(), state.cast());
            return;
        }
        // A handler would make another state, which nobody frees.
        SignalsBlocked::new().until_thread_end();
        current::set(ptr::null_mut());
        LOCALS.with(|l| l.fast.iter().for_each(|c| c.set(ptr::null_mut())));
        if !unregister_thread(state) {
            return;
        }
        let state = Box::from_raw(state);
        for b in &state.blocks {
            b.free();
        }
        if !state.signal_stack.is_null() {
            let off = libc::stack_t {
                ss_sp: ptr::null_mut(),
                ss_flags: libc::SS_DISABLE,
                ss_size: 0,
            };
            libc::sigaltstack(&off, ptr::null_mut());
            if state.owns_signal_stack {
                libc::munmap(state.signal_stack, SIGNAL_STACK);
            }
        }
    }
}

impl ThreadState {
    /// Returns the thread's block of an image, if it was made.
    fn block(&self, serial: u64) -> Option<*mut u8> {
        let mut blocks = self.blocks.iter();
        blocks.find(|b| b.serial == serial).map(|b| b.block)
    }

    /// Returns true if an address lies in the stack that the system made for this thread.
    pub fn on_own_stack(&self, address: usize) -> bool {
        self.stack.contains(&address)
    }

    /// Determines whether the thread's own stack may become too short for frames of the
    /// interpreter.
    fn find_stack_shortage(&mut self) {
        let lacks = if is_main() { stack::first_lacks() } else { 0 };
        if lacks > self.stack.len() / 2 {
            let below = self.stack.start + (self.stack.len() / 4).min(NATIVE_RESERVE);
            self.overflow_bounds = [self.stack.start, below, self.stack.end];
        }
    }

    /// Returns the stack on which calls continue when the thread's own is used up; only this thread
    /// uses it. `None` if the system has no memory for it; then the thread uses its own stack to
    /// its end.
    pub fn overflow_stack(&mut self) -> Option<&Stack> {
        if self.overflow_stack_memory.is_none() {
            self.overflow_stack_memory = Stack::new(stack::first_lacks()).ok();
        }
        if self.overflow_stack_memory.is_none() {
            self.disable_overflow_stack();
        }
        self.overflow_stack_memory.as_ref()
    }

    /// Makes the thread use its own stack to its end.
    pub fn disable_overflow_stack(&mut self) {
        self.overflow_bounds = [0; 3];
    }

    /// Returns the stack for internal work that takes up to `bytes`, or `None` if the running
    /// stack, which contains `here`, has room for certain. Also `None` if the system has no memory
    /// for it.
    pub(super) fn work_stack(&mut self, here: usize, bytes: usize) -> Option<&Stack> {
        let inside = |stack: &Stack| stack.contains(here);
        if self.stack.contains(&here) && here - self.stack.start > bytes
            || self.work_stack.as_ref().is_some_and(inside)
        {
            return None;
        }
        if self.work_stack.is_none() {
            self.work_stack = Stack::new(bytes).ok();
        }
        self.work_stack.as_ref()
    }

    /// Returns the bytecode position of the innermost activation; null if unknown.
    pub fn position(&self) -> *const u64 {
        // SAFETY: the activation is alive while guest code runs on this thread.
        unsafe { self.activation.as_ref() }.map_or(ptr::null(), |act| act.ip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_state_and_it_stays() {
        let here = current();
        assert_eq!(here, current());
        let there = std::thread::spawn(|| current() as usize).join().unwrap();
        assert_ne!(here as usize, there);
    }
}
