//! Trampolines: addresses of functions that take a static chain (`llvm.init.trampoline`).
//!
//! Natively a trampoline is code that the program writes into a buffer on its stack, which must be
//! executable for that. Here the code lies in separate pages: each slot loads the chain into r10
//! and jumps, and reads both from a second page that stays writable. So no memory is ever writable
//! and executable, and refilling a slot costs two stores.
//!
//! A slot belongs to the address of its buffer and serves every later trampoline made there. So
//! there are at most as many slots as addresses of buffers, no matter how often a loop makes one.
//! The buffer names its slot, so the common case takes no lock; a table serves buffers whose memory
//! was used for other data in between.
//!
//! Slots are never freed, since nothing marks the end of a trampoline's life.

use super::thread::LOCALS;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use hashbrown::HashMap;

const PAGE: usize = 4096;
/// Bytes of a slot in either page.
const SLOT: usize = 32;
/// The most pages of code mapped at once. The first mapping has one page, each later one twice as
/// many as the last.
const MOST_PAGES: usize = 64;
/// Marks a buffer that names its slot.
const MAGIC: usize = 0x6f6d_7076_6d74_7231;

/// The writable half of a slot.
#[repr(C)]
struct Datum {
    chain: usize,
    target: usize,
    /// The executable half.
    code: usize,
    _pad: usize,
}
const _: () = assert!(size_of::<Datum>() == SLOT);

/// The contents that [`init`] leaves in the program's buffer, which has at least three words on
/// x86-64.
#[repr(C)]
struct Buffer {
    /// [`MAGIC`] combined with the buffer's address and `datum`: other data of the program may have
    /// overwritten either word alone.
    mark: usize,
    datum: *mut Datum,
}

impl Buffer {
    fn new(owner: usize, datum: *mut Datum) -> Buffer {
        let mark = MAGIC ^ owner ^ datum as usize;
        Buffer { mark, datum }
    }

    /// Returns the address of the buffer that this was written to; meaningless for other data.
    fn owner(&self) -> usize {
        self.mark ^ MAGIC ^ self.datum as usize
    }
}

/// The slots of all trampolines.
pub(super) struct Pool {
    /// Each slot by the address of its buffer.
    slots: Option<HashMap<usize, usize>>,
    /// The first unused slot's code, and the end of the pages that it lies in.
    next: usize,
    end: usize,
    /// Distance from a slot's code to its datum.
    distance: usize,
    /// Pages of code in the next mapping.
    pages: usize,
}

/// The trampolines of a process.
struct Trampolines {
    pool: Mutex<Pool>,
    /// Done once the pool's lock is held over forks.
    fork_handlers: Once,
}

/// The trampolines of this process: code that calls one only knows its buffer, not the program.
static TRAMPOLINES: Trampolines = Trampolines {
    pool: Mutex::new(Pool {
        slots: None,
        next: 0,
        end: 0,
        distance: 0,
        pages: 1,
    }),
    fork_handlers: Once::new(),
};

/// Makes a trampoline in `buffer`: a call of the address that [`adjust`] returns for it reaches
/// `target` with `chain` in the register of the static chain.
///
/// # Safety
/// The buffer has the size and alignment of trampolines on LLVM's x86-64 target (three words).
pub unsafe extern "C" fn init(buffer: *mut c_void, target: usize, chain: usize) {
    let key = buffer as usize;
    let buffer = buffer.cast::<Buffer>();
    // SAFETY: the buffer is large enough by contract. A datum confirmed by the mark is never
    // unmapped.
    unsafe {
        let known = buffer.read_unaligned();
        let datum = if known.owner() == key {
            known.datum
        } else {
            let datum = slot(key);
            buffer.write_unaligned(Buffer::new(key, datum));
            datum
        };
        (*datum).chain = chain;
        (*datum).target = target;
    }
}

/// Returns the address to call for the trampoline in `buffer`; the buffer itself if [`init`] made
/// none there or in the buffer that it is a copy of.
///
/// # Safety
/// The contract of [`init`].
pub unsafe extern "C" fn adjust(buffer: *const c_void) -> usize {
    // SAFETY: the buffer is large enough by contract. A datum confirmed by the mark or the table is
    // never unmapped.
    unsafe {
        let known = buffer.cast::<Buffer>().read_unaligned();
        let owner = known.owner();
        if owner == buffer as usize || lock().has(owner, known.datum) {
            (*known.datum).code
        } else {
            buffer as usize
        }
    }
}

fn lock() -> MutexGuard<'static, Pool> {
    let pool = &TRAMPOLINES.pool;
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the slot of a buffer, made at the first use. Ends the process if the system refuses
/// memory for machine code.
fn slot(owner: usize) -> *mut Datum {
    hold_over_fork();
    let mut pool = lock();
    if let Some(&datum) = pool.slots.as_ref().and_then(|s| s.get(&owner)) {
        return datum as *mut Datum;
    }
    if pool.next == pool.end
        && let Err(why) = pool.extend()
    {
        ompvm_support::message!(
            Resources,
            "no memory for the code of an internal procedure's address: {why}. Allow this \
             process memory that is executed after it was written"
        );
        std::process::exit(125);
    }
    let code = pool.next;
    pool.next += SLOT;
    let datum = (code + pool.distance) as *mut Datum;
    // SAFETY: the pool's own memory, not used yet.
    unsafe {
        datum.write(Datum {
            chain: 0,
            target: 0,
            code,
            _pad: 0,
        });
    }
    let slots = pool.slots.get_or_insert_default();
    slots.insert(owner, datum as usize);
    datum
}

impl Pool {
    /// Returns true if `datum` is the slot of the buffer at `owner`.
    fn has(&self, owner: usize, datum: *mut Datum) -> bool {
        let slots = self.slots.as_ref();
        slots.and_then(|s| s.get(&owner)).copied() == Some(datum as usize)
    }

    /// Maps pages of code and as many pages of data behind them, and writes the code.
    fn extend(&mut self) -> Result<(), String> {
        let len = self.pages * PAGE;
        let map = |low: i32| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | low;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: a fresh anonymous mapping.
            unsafe { libc::mmap(ptr::null_mut(), 2 * len, access, flags, -1, 0) }
        };
        let failed = || std::io::Error::last_os_error().to_string();
        let mut base = map(libc::MAP_32BIT);
        if base == libc::MAP_FAILED {
            base = map(0);
        }
        if base == libc::MAP_FAILED {
            return Err(failed());
        }
        for at in (0..len).step_by(SLOT) {
            let mut code = [0xccu8; SLOT];
            // endbr64; mov r10, [rip + chain]; jmp [rip + target]
            code[..4].copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfa]);
            code[4..7].copy_from_slice(&[0x4c, 0x8b, 0x15]);
            code[7..11].copy_from_slice(&(len as u32 - 11).to_le_bytes());
            code[11..13].copy_from_slice(&[0xff, 0x25]);
            code[13..17].copy_from_slice(&(len as u32 + 8 - 17).to_le_bytes());
            // SAFETY: inside of the fresh mapping.
            unsafe { ptr::copy_nonoverlapping(code.as_ptr(), base.cast::<u8>().add(at), SLOT) };
        }
        // SAFETY: the first half of the fresh mapping.
        if unsafe { libc::mprotect(base, len, libc::PROT_READ | libc::PROT_EXEC) } != 0 {
            let why = failed();
            // SAFETY: the fresh mapping, not used yet.
            unsafe { libc::munmap(base, 2 * len) };
            return Err(why);
        }
        self.next = base as usize;
        self.end = self.next + len;
        self.distance = len;
        self.pages = (self.pages * 2).min(MOST_PAGES);
        Ok(())
    }
}

/// The pool's lock while a thread forks. Has no destructor, so that a destructor of the thread may
/// fork.
pub(super) type HeldPool = ManuallyDrop<MutexGuard<'static, Pool>>;

extern "C" fn before_fork() {
    let held = Some(ManuallyDrop::new(lock()));
    LOCALS.with(|l| l.held_trampolines.set(held));
}

extern "C" fn after_fork() {
    let held = LOCALS.with(|l| l.held_trampolines.take());
    drop(held.map(ManuallyDrop::into_inner));
}

/// Keeps the pool's lock consistent in children of `fork`.
fn hold_over_fork() {
    TRAMPOLINES.fork_handlers.call_once(|| {
        // SAFETY: the handlers are functions of this library that do not unwind.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
    });
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Returns the static chain plus its argument.
    #[unsafe(naked)]
    extern "C" fn chained(x: usize) -> usize {
        std::arch::naked_asm!("lea rax, [rdi + r10]", "ret")
    }

    fn call(address: usize, x: usize) -> usize {
        // SAFETY: a trampoline to `chained`.
        let f = unsafe { std::mem::transmute::<usize, extern "C" fn(usize) -> usize>(address) };
        f(x)
    }

    #[test]
    fn a_trampoline_passes_its_chain_and_is_made_again_in_place() {
        let mut buffer = [0usize; 4];
        let at: *mut c_void = buffer.as_mut_ptr().cast();
        let mut last = 0;
        for chain in 0..1000 {
            // SAFETY: the buffer has four words.
            let address = unsafe {
                // The program may have overwritten the buffer meanwhile, either word alone.
                match chain % 4 {
                    0 => at.write_bytes(0x5a, 32),
                    1 => at.cast::<usize>().add(1).write(0),
                    2 => at.cast::<usize>().write(0),
                    _ => {}
                }
                init(at, chained as *const () as usize, chain);
                adjust(at)
            };
            assert!(last == 0 || last == address, "one buffer has one slot");
            last = address;
            assert_eq!(call(address, 5), chain + 5);
        }
        let copy = buffer;
        // SAFETY: the buffer has four words; a copy leads to the same code.
        assert_eq!(unsafe { adjust(copy.as_ptr().cast()) }, last);
        let mut other = [7usize; 4];
        // SAFETY: the buffer has four words; no trampoline was made there.
        let same = unsafe { adjust(other.as_mut_ptr().cast()) };
        assert_eq!(same, other.as_ptr() as usize);
    }

    #[test]
    fn trampolines_of_many_buffers_and_threads_are_apart() {
        std::thread::scope(|s| {
            for thread in 0..4 {
                s.spawn(move || {
                    let mut buffers = vec![[0usize; 4]; 1000];
                    for (i, buffer) in buffers.iter_mut().enumerate() {
                        // SAFETY: the buffer has four words.
                        unsafe {
                            let at = buffer.as_mut_ptr().cast();
                            init(at, chained as *const () as usize, thread * 10_000 + i);
                        }
                    }
                    for (i, buffer) in buffers.iter().enumerate() {
                        // SAFETY: the buffer has four words and holds a trampoline.
                        let address = unsafe { adjust(buffer.as_ptr().cast()) };
                        assert_eq!(call(address, 1), thread * 10_000 + i + 1);
                    }
                });
            }
        });
    }
}
