//! What the guest needs of each OS thread: where it is, where its stack ends, its thread_local blocks.
//!
//! Made at the first entry into guest code on a thread, whoever made the thread, and freed when
//! the thread ends. The destructor runs in the last round of pthread-key destructors, so that
//! the guest's own destructors (pthread keys, C++ thread_local) still find their data.
//!
//! What not: OpenMP's numbering of threads belongs to `kmpc`.

use super::activation::Activation;
use super::image::Image;
use super::stack::{self, Stack};
use super::worker::{self, SIGNAL_STACK};
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
    /// The lowest byte that guest frames use, on the stack that runs; they grow down.
    pub sp: *mut u8,
    /// The lowest place for slot 0 of a guest frame, until the activation gets more room.
    pub limit: *mut u8,
    /// The block of thread_locals of the image used last; see [`tls_block`].
    pub tls: *mut u8,
    /// The serial number of the image whose block `tls` is; 0 is none.
    pub tls_serial: u64,
    /// The innermost activation, null when no guest code runs on this thread. After the program
    /// switched stacks inside compiled code it may be another stack's, until interpreted code goes on.
    pub activation: *mut Activation,
    /// The innermost activation that catches traps.
    pub catcher: *mut Activation,
    /// Free for the interpreter.
    pub interp: [usize; 6],
    /// Slot 0 of the frame whose native call is being made.
    pub away: *mut u64,
    /// The thread's own stack, as the system made it.
    stack: Range<usize>,
    /// For work of ours while the program runs on a stack of its own.
    work_stack: Option<Stack>,
    /// The first thread's own stack, where it may become too short: its ends, and the place below which calls
    /// go on on another one. Zeros elsewhere.
    pub(super) short: [usize; 3],
    /// That other stack.
    further: Option<Stack>,
    blocks: Vec<TlsBlock>,
    rounds: u32,
    signal_stack: *mut c_void,
    /// True if that is a mapping of its own.
    owns_signal_stack: bool,
    /// The alternate signal stack that the guest installed (address, bytes); no bytes is none.
    pub alternate: (usize, usize),
}

#[derive(Debug)]
struct TlsBlock {
    serial: u64,
    block: *mut u8,
    layout: std::alloc::Layout,
}

thread_local! {
    static CURRENT: Cell<*mut ThreadState> = const { Cell::new(ptr::null_mut()) };
    /// Blocks of the first images that have compiled code, null until first used.
    static FAST: [Cell<*mut u8>; FAST_CELLS] = const { [const { Cell::new(ptr::null_mut()) }; FAST_CELLS] };
}

/// Images whose thread_locals compiled code reaches with one load. Cells are not given back.
const FAST_CELLS: usize = 16;

/// Claims a cell for an image.
pub(super) fn take_fast_cell() -> Option<usize> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    (n < FAST_CELLS).then_some(n)
}

/// The distance from the thread pointer to cell `index`, when it is the same on every thread: so
/// it is in an executable and the libraries it starts with, whose variables lie right below the
/// thread pointer (ELF TLS, variant II); those of libraries opened later are on the heap.
pub fn fast_cell_offset(index: usize) -> Option<isize> {
    let base: isize;
    // SAFETY: the first word of the x86-64 thread control block is its own address.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) base, options(nostack, readonly)) };
    let offset = FAST.with(|cells| ptr::from_ref(&cells[index]) as isize - base);
    (-(1 << 20)..0).contains(&offset).then_some(offset)
}

/// The calling thread's block of an image, for compiled code that found its cell empty.
///
/// # Safety
/// `image` is a live image.
pub unsafe extern "C" fn fast_block(image: *const Image) -> *mut u8 {
    // SAFETY: the caller's promise; the state is this thread's.
    unsafe {
        let block = tls_block(current(), &*image);
        if let Some(index) = (*image).fast_tls() {
            FAST.with(|cells| cells[index].set(block));
        }
        block
    }
}

/// A thread as others may look at it. Never freed; taken again by later threads.
struct Seat {
    state: AtomicPtr<ThreadState>,
    /// Who looks at the state just now.
    readers: AtomicUsize,
    next: *const Seat,
}

static SEATS: AtomicPtr<Seat> = AtomicPtr::new(ptr::null_mut());

fn seats() -> impl Iterator<Item = &'static Seat> {
    let mut at = SEATS.load(Ordering::Acquire).cast_const();
    std::iter::from_fn(move || {
        // SAFETY: seats are never freed.
        let seat = unsafe { at.as_ref() }?;
        at = seat.next;
        Some(seat)
    })
}

fn take_seat(state: *mut ThreadState) {
    let free = seats().any(|s| {
        let taken =
            s.state
                .compare_exchange(ptr::null_mut(), state, Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok()
    });
    if free {
        return;
    }
    let seat = Box::into_raw(Box::new(Seat {
        state: AtomicPtr::new(state),
        readers: AtomicUsize::new(0),
        next: ptr::null(),
    }));
    let mut head = SEATS.load(Ordering::Acquire);
    loop {
        // SAFETY: nobody else knows the seat yet.
        unsafe { (*seat).next = head };
        match SEATS.compare_exchange_weak(head, seat, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

/// Gives the seat up; `false` when somebody who looks at it does not go away (it may be left over
/// from before a `fork`), so that the state must stay.
fn leave_seat(state: *mut ThreadState) -> bool {
    let Some(seat) = seats().find(|s| s.state.load(Ordering::Acquire) == state) else {
        return true;
    };
    seat.state.store(ptr::null_mut(), Ordering::SeqCst);
    for _ in 0..10_000 {
        if seat.readers.load(Ordering::SeqCst) == 0 {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

/// Set in the word at a guest's stack pointer below memory that a frame allocated; the rest is the address of its
/// slot 0. Elsewhere the word is the lowest of a frame's header, a multiple of 16.
pub const ALLOCATED: usize = 1;
/// Words of a frame's header.
pub const HEADER: usize = 6;

/// Calls `look` for each thread in guest code that is in no native call, with the word of the frame's header
/// that names its code (the third below slot 0). The thread goes on meanwhile, so the word may be anything.
pub fn look_at_frames(look: &mut dyn FnMut(usize)) {
    for seat in seats() {
        seat.readers.fetch_add(1, Ordering::SeqCst);
        let state = seat.state.load(Ordering::SeqCst);
        if !state.is_null() {
            // SAFETY: a thread frees its state only when nobody reads its seat, and its own stack is
            // mapped as long as the state lives: the part that a stack pointer was seen in.
            // Other stacks may go away at any time and are read by the system.
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
                    let away = (&raw const (*state).away).read_volatile() as usize;
                    if regs != away
                        && let Some(code) = word(regs.wrapping_sub(24))
                    {
                        look(code);
                    }
                }
            }
        }
        seat.readers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Slot 0 of the guest frame that a guest stack pointer belongs to, read by `word`.
pub fn frame_at(sp: usize, word: &dyn Fn(usize) -> Option<usize>) -> Option<usize> {
    let lowest = word(sp)?;
    Some(match lowest & ALLOCATED {
        0 => sp + HEADER * 8,
        _ => lowest - ALLOCATED,
    })
}

/// This thread's state, made when it has none.
#[inline]
pub fn current() -> *mut ThreadState {
    let p = CURRENT.get();
    if p.is_null() { make() } else { p }
}

/// This thread's state, or null when no guest code has run on it.
#[inline]
pub fn current_or_null() -> *mut ThreadState {
    CURRENT.get()
}

/// As [`current_or_null`], for code that may have moved to another thread since it asked last. A
/// function of its own, since compilers keep the address of a thread's variable.
#[inline(never)]
pub fn current_again() -> *mut ThreadState {
    CURRENT.get()
}

/// This thread's copy of `image`'s thread_locals, made at the first use.
///
/// # Safety
/// `state` is this thread's state.
#[inline]
pub unsafe fn tls_block(state: *mut ThreadState, image: &Image) -> *mut u8 {
    // SAFETY: the state is this thread's and alive.
    unsafe {
        if (*state).tls_serial == image.serial() {
            (*state).tls
        } else {
            tls_slow(state, image)
        }
    }
}

/// # Safety
/// As [`tls_block`].
#[cold]
#[inline(never)]
unsafe fn tls_slow(state: *mut ThreadState, image: &Image) -> *mut u8 {
    // SAFETY: the state is this thread's, nobody else refers to it.
    let state = unsafe { &mut *state };
    let serial = image.serial();
    let known = state.blocks.iter().find(|b| b.serial == serial);
    let block = match known {
        Some(b) => b.block,
        None => {
            let (bytes, align) = image.tls_template();
            let layout = std::alloc::Layout::from_size_align(bytes.len().max(1), align.max(16))
                .unwrap_or_else(|e| crate::bug!("thread_local block: {e}"));
            // SAFETY: the size is not zero; the template is as long as the block.
            let block = unsafe {
                let p = std::alloc::alloc(layout);
                if p.is_null() {
                    std::alloc::handle_alloc_error(layout);
                }
                ptr::copy_nonoverlapping(bytes.as_ptr(), p, bytes.len());
                p
            };
            state.blocks.push(TlsBlock {
                serial,
                block,
                layout,
            });
            block
        }
    };
    state.tls = block;
    state.tls_serial = serial;
    block
}

/// Forgets this thread's block of an image that is going away.
pub(super) fn forget_image(serial: u64) {
    let p = CURRENT.get();
    if p.is_null() {
        return;
    }
    // SAFETY: this thread's state; the image is not running any more.
    let state = unsafe { &mut *p };
    if state.tls_serial == serial {
        state.tls = ptr::null_mut();
        state.tls_serial = 0;
    }
    state.blocks.retain(|b| {
        if b.serial == serial {
            // SAFETY: allocated with this layout and not used any more.
            unsafe { std::alloc::dealloc(b.block, b.layout) };
        }
        b.serial != serial
    });
}

fn key() -> libc::pthread_key_t {
    static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: fills the local; the destructor has the right type.
        let rc = unsafe { libc::pthread_key_create(&mut key, Some(at_thread_exit)) };
        assert!(rc == 0, "no pthread key is left for guest threads");
        key
    })
}

/// Whether the calling thread is the process's first.
pub fn is_main() -> bool {
    // SAFETY: plain system calls.
    unsafe { libc::syscall(libc::SYS_gettid) == libc::c_long::from(libc::getpid()) }
}

/// Bytes of a stack that is too short that are left for native functions.
const KEEP: usize = 256 << 10;

#[cold]
#[inline(never)]
fn make() -> *mut ThreadState {
    let reserved = worker::signal_stack();
    let state = Box::new(ThreadState {
        sp: ptr::null_mut(),
        limit: ptr::null_mut(),
        tls: ptr::null_mut(),
        tls_serial: 0,
        activation: ptr::null_mut(),
        catcher: ptr::null_mut(),
        interp: [0; 6],
        away: ptr::null_mut(),
        stack: 0..0,
        work_stack: None,
        short: [0; 3],
        further: None,
        blocks: Vec::new(),
        rounds: 0,
        signal_stack: reserved,
        owns_signal_stack: reserved.is_null(),
        alternate: (0, 0),
    });
    let p = Box::into_raw(state);
    CURRENT.set(p);
    // SAFETY: the key exists; the state was just made; the alternate stack is a fresh mapping.
    unsafe {
        // Later, for the question takes memory, which may be the guest's to give.
        (*p).stack = stack::own();
        (*p).find_short();
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
    take_seat(p);
    p
}

/// Makes the thread's own alternate stack the one in use.
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
    // SAFETY: the pointer was stored by `make` on this thread; pthread runs at least four rounds
    // of destructors while values are set again (POSIX, PTHREAD_DESTRUCTOR_ITERATIONS), so the
    // state lives until the third. Then nobody has it: this thread forgets it, and who looks at
    // its seat was waited for. Its blocks were allocated with their layouts, and the signal stack
    // is not in use, since no signal handler runs here, before it is unmapped.
    unsafe {
        let state: *mut ThreadState = state.cast();
        (*state).rounds += 1;
        if (*state).rounds < 3 {
            libc::pthread_setspecific(key(), state.cast());
            return;
        }
        CURRENT.set(ptr::null_mut());
        FAST.with(|cells| cells.iter().for_each(|c| c.set(ptr::null_mut())));
        if !leave_seat(state) {
            return;
        }
        let state = Box::from_raw(state);
        for b in &state.blocks {
            std::alloc::dealloc(b.block, b.layout);
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
    /// True if an address lies in the stack that the system made for this thread.
    pub fn on_own_stack(&self, address: usize) -> bool {
        self.stack.contains(&address)
    }

    /// Finds out whether the thread's own stack may become too short for frames of the interpreter.
    fn find_short(&mut self) {
        let lacks = if is_main() { stack::first_lacks() } else { 0 };
        if lacks > self.stack.len() / 2 {
            let below = self.stack.start + (self.stack.len() / 4).min(KEEP);
            self.short = [self.stack.start, below, self.stack.end];
        }
    }

    /// The stack on which calls go on when the thread's own is used up, which nobody uses while that one runs.
    /// `None` when the system has no memory for it; then the own one is used to its end.
    pub fn further_stack(&mut self) -> Option<&Stack> {
        if self.further.is_none() {
            self.further = Stack::new(stack::first_lacks()).ok();
        }
        if self.further.is_none() {
            self.stay();
        }
        self.further.as_ref()
    }

    /// Has the thread use its own stack to its end.
    pub fn stay(&mut self) {
        self.short = [0; 3];
    }

    /// The stack for work of ours that takes up to `bytes`, when the stack that is running, at `here`, has not
    /// enough for certain. `None` as well when the system has no memory for it.
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

    /// The bytecode position of the innermost activation, null when none is known.
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
