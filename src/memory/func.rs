//! Guest functions as native code sees them: one [`FuncRef`] and one native-callable stub each.
//!
//! qsort, pthread_create, atexit, signal handlers and the OpenMP runtime call guest functions
//! through plain C function pointers, so each function needs a native address: its stub. A stub
//! loads its `FuncRef` into r11 and jumps to the common entry of [`super::abi`]. All stubs of the
//! process lie in one reserved range, so [`from_address`] is a range check and one load; a page
//! without stubs reads as zeros.
//!
//! Generates no code per signature: the entry hook reads the arguments by a [`CallPlan`].

use super::abi::{self, CallPlan, NativeFrame};
use super::image::Image;
use super::signal_safe::SignalSafe;
use ompvm_ir::FuncId;
use ompvm_support::limits;
use once_cell::race::OnceBox;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// One defined guest function.
#[repr(C)]
#[derive(Debug)]
pub struct FuncRef {
    /// The native-callable address: the guest's function pointer.
    pub stub: usize,
    /// The jump target of the stub: the common entry into the interpreter, or compiled code. One
    /// store switches every native caller.
    pub entry: AtomicUsize,
    /// The interpreter's code, null until lowered; owned by the interpreter.
    pub code: AtomicPtr<c_void>,
    /// The function's id in its module.
    pub id: FuncId,
    /// The fingerprint of its parameters and its result; see [`abi::fingerprint`].
    pub fingerprint: u32,
    /// True if native callers used the stub since the last call of [`FuncRef::was_called`].
    pub called: AtomicBool,
    /// True once the program has installed the function as a signal handler.
    pub handles_signals: AtomicBool,
    /// The compiled code, while `entry` is the witness stub that records calls.
    pub direct: AtomicUsize,
    /// The image that the function belongs to.
    pub image: *const Image,
    /// The mapping of native arguments to slots, made at the first entry from native code. A
    /// `OnceBox` never blocks on another thread: in a child of `fork`, that thread would not exist.
    pub plan: OnceBox<Arc<CallPlan>>,
}

// SAFETY: `image` is set before the reference is shared and only read afterwards, and the image
// outlives its functions; every other field is atomic, a `OnceBox`, or immutable.
unsafe impl Send for FuncRef {}
// SAFETY: the same argument as for `Send`; no field has unsynchronized interior mutability.
unsafe impl Sync for FuncRef {}

impl FuncRef {
    /// Returns the image that the function belongs to.
    pub fn image(&self) -> &Image {
        // SAFETY: an image sets this pointer to itself before handing out references, and owns
        // its FuncRefs.
        unsafe { &*self.image }
    }

    /// Returns true if native callers reach compiled code.
    pub fn is_compiled(&self) -> bool {
        let entry = self.entry.load(Ordering::Acquire);
        entry != abi::entry_address() && entry != abi::wide_entry_address()
    }

    /// Returns true if compiled code was called through the stub since the last call of this
    /// function.
    ///
    /// The first call installs the witness stub, which costs each caller one more load until the
    /// entry is replaced. Must not be called by several threads at once.
    pub fn was_called(&self) -> bool {
        let witness = abi::witness_address();
        let entry = self.entry.load(Ordering::Acquire);
        if entry == witness {
            return self.called.swap(false, Ordering::Relaxed);
        }
        if self.is_compiled() {
            self.called.store(false, Ordering::Relaxed);
            self.direct.store(entry, Ordering::Release);
            // A failed exchange keeps an entry that was installed meanwhile.
            let _ =
                self.entry
                    .compare_exchange(entry, witness, Ordering::AcqRel, Ordering::Relaxed);
        }
        false
    }

    /// Returns the call plan of the function's own (fixed) signature, made at the first use.
    ///
    /// # Errors
    /// The reason why native code cannot call the signature.
    #[inline]
    pub fn plan(&self) -> Result<&Arc<CallPlan>, String> {
        match self.plan.get() {
            Some(plan) => Ok(plan),
            None => self.make_plan(),
        }
    }

    #[cold]
    fn make_plan(&self) -> Result<&Arc<CallPlan>, String> {
        // The first entry may be a signal's.
        let _section = SignalSafe::enter();
        let module = &self.image().module;
        let plan = CallPlan::for_function(module, &module.functions[self.id])?;
        Ok(self.plan.get_or_init(|| Box::new(Arc::new(plan))))
    }
}

/// Bytes reserved for stubs if address space is not limited: 8 Mi functions.
const AREA: usize = 256 << 20;
/// Addresses tried for the stubs, in this order: right below and above the range of `MAP_32BIT`,
/// which holds the program's data, since relative virtual tables hold 32-bit distances from data to
/// functions. The kernel places the heap of an executable at a fixed address anywhere in the first
/// GiB, so it takes the first candidate in one start of four.
const NEAR: [usize; 4] = [
    (1 << 30) - AREA,
    2 << 30,
    (2 << 30) + AREA,
    (2 << 30) + 2 * AREA,
];
/// Bytes reserved if address space is limited.
const LEAST_AREA: usize = 4 << 20;
/// Bytes per stub.
const STUB: usize = 32;
/// Offset of a stub's datum: the `FuncRef` or the jump target.
const DATUM: usize = 24;
const PAGE: usize = 4096;

/// The area of address space for stubs.
struct StubArea {
    base: AtomicUsize,
    /// Bytes of the reserved range; 0 before the reservation.
    bytes: AtomicUsize,
    pages: Mutex<Pages>,
    /// The result of the reservation: the base, or the system's message.
    reserved: OnceLock<Result<usize, String>>,
}

/// The area of this process. One range serves all programs, so that one comparison tells if an
/// address is a stub.
static STUBS: StubArea = StubArea {
    base: AtomicUsize::new(0),
    bytes: AtomicUsize::new(0),
    pages: Mutex::new(Pages {
        free: Vec::new(),
        next: 1,
    }),
    reserved: OnceLock::new(),
};

/// Free page ranges of the area (first page, pages), and the first page that was never used.
struct Pages {
    free: Vec<(usize, usize)>,
    next: usize,
}

/// Locks the pages; for a section, since lowering may need a stub. Not `parking_lot`'s lock, whose
/// first wait on a thread allocates in the C library.
fn lock_pages() -> MutexGuard<'static, Pages> {
    STUBS.pages.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the guest function whose stub begins at `addr`, if any.
#[inline]
pub fn from_address(addr: usize) -> Option<&'static FuncRef> {
    let bytes = STUBS.bytes.load(Ordering::Acquire);
    let offset = addr.wrapping_sub(STUBS.base.load(Ordering::Relaxed));
    if offset >= bytes || !offset.is_multiple_of(STUB) || offset < PAGE {
        return None;
    }
    // SAFETY: the whole area stays readable for the life of the process; the datum of an empty slot
    // is zero, and only a guest function's stub has the mark before it.
    unsafe {
        if *((addr + DATUM - 1) as *const u8) != KIND_FUNC {
            return None;
        }
        (*((addr + DATUM) as *const *const FuncRef)).as_ref()
    }
}

/// Returns the guest function whose stub contains an address, if any.
pub fn containing(addr: usize) -> Option<&'static FuncRef> {
    let base = STUBS.base.load(Ordering::Relaxed);
    from_address(addr - addr.wrapping_sub(base) % STUB)
}

/// Mark of a guest function's stub, in the byte before the datum.
const KIND_FUNC: u8 = 0xf1;
/// Mark of a stub that jumps through a cell.
const KIND_JUMP: u8 = 0x1f;

/// A run of stubs, released when dropped.
#[derive(Debug)]
pub struct Stubs {
    base: usize,
    len: usize,
}

impl Stubs {
    /// Reserves `len` stubs, to be filled by [`Stubs::write`].
    ///
    /// # Errors
    /// The system's message if memory is short.
    pub fn new(len: usize) -> Result<Stubs, String> {
        let area = area()?;
        let pages = (len * STUB).div_ceil(PAGE).max(1);
        let _section = SignalSafe::enter();
        let mut state = lock_pages();
        let found = state.free.iter().position(|&(_, n)| n == pages);
        let first = match found {
            Some(i) => state.free.swap_remove(i).0,
            None => {
                let first = state.next;
                if (first + pages) * PAGE > STUBS.bytes.load(Ordering::Relaxed) {
                    return Err(format!(
                        "the program has more functions than the {} MiB reserved for their \
                         addresses hold; raise the limit on address space (`ulimit -v`)",
                        STUBS.bytes.load(Ordering::Relaxed) >> 20
                    ));
                }
                state.next += pages;
                first
            }
        };
        Ok(Stubs {
            base: area + first * PAGE,
            len,
        })
    }

    /// Returns the pages of the stubs: the first address and the number of bytes.
    pub fn pages(&self) -> (usize, usize) {
        (self.base, (self.len * STUB).div_ceil(PAGE).max(1) * PAGE)
    }

    /// Returns the address of stub `index`.
    pub fn address(&self, index: usize) -> usize {
        debug_assert!(index < self.len);
        self.base + index * STUB
    }

    /// Returns the address behind a stub.
    pub fn end(&self, index: usize) -> usize {
        self.address(index) + STUB
    }

    /// Writes the stubs, one per item.
    ///
    /// # Errors
    /// The system's message if protections cannot be changed.
    pub fn write(&self, items: &[StubKind]) -> Result<(), String> {
        assert!(items.len() <= self.len);
        self.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        let area = STUBS.base.load(Ordering::Relaxed);
        for (i, item) in items.iter().enumerate() {
            let at = self.address(i);
            let mut code = [0xccu8; STUB];
            code[..4].copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfa]); // endbr64
            let datum = match *item {
                StubKind::Function(f) => {
                    // mov r11, [rip + 13]; jmp [r11 + entry]
                    code[4..11].copy_from_slice(&[0x4c, 0x8b, 0x1d, 13, 0, 0, 0]);
                    let entry = std::mem::offset_of!(FuncRef, entry) as u8;
                    code[11..15].copy_from_slice(&[0x41, 0xff, 0x63, entry]);
                    code[DATUM - 1] = KIND_FUNC;
                    f as usize
                }
                StubKind::Host(h) => {
                    // mov r11, [rip + 13]
                    code[4..11].copy_from_slice(&[0x4c, 0x8b, 0x1d, 13, 0, 0, 0]);
                    // jmp [rip + distance to the cell at the area's start]
                    let rel = (area as i64 - (at + 17) as i64) as i32;
                    code[11..13].copy_from_slice(&[0xff, 0x25]);
                    code[13..17].copy_from_slice(&rel.to_le_bytes());
                    h as usize | HOST_TAG
                }
                StubKind::Jump(cell) => {
                    // mov r11, [rip + 13]; jmp [r11]
                    code[4..11].copy_from_slice(&[0x4c, 0x8b, 0x1d, 13, 0, 0, 0]);
                    code[11..14].copy_from_slice(&[0x41, 0xff, 0x23]);
                    code[DATUM - 1] = KIND_JUMP;
                    cell as usize
                }
            };
            code[DATUM..].copy_from_slice(&datum.to_le_bytes());
            // SAFETY: the pages belong to this run and are writable until `protect` below; `at` is
            // a whole stub within them.
            unsafe { ptr::copy_nonoverlapping(code.as_ptr(), at as *mut u8, STUB) };
        }
        self.protect(libc::PROT_READ | libc::PROT_EXEC)
    }

    fn bytes(&self) -> usize {
        (self.len * STUB).div_ceil(PAGE).max(1) * PAGE
    }

    fn protect(&self, prot: i32) -> Result<(), String> {
        // SAFETY: the pages belong to this run, and no stub of it runs while `write` changes them.
        if unsafe { libc::mprotect(self.base as *mut c_void, self.bytes(), prot) } != 0 {
            let why = std::io::Error::last_os_error();
            return Err(match prot & libc::PROT_EXEC {
                0 => why.to_string(),
                _ => format!(
                    "the system refuses memory for machine code (mprotect: {why}), without which \
                     the program's functions have no addresses. Allow this process memory that is \
                     executed after it was written: a service's MemoryDenyWriteExecute and SELinux' execmem forbid it"
                ),
            });
        }
        Ok(())
    }
}

impl Drop for Stubs {
    fn drop(&mut self) {
        let bytes = self.bytes();
        // SAFETY: the pages belong to this run, whose owner no longer uses its stubs; the new
        // mapping makes them read as zeros.
        let done = unsafe { map(self.base as *mut c_void, bytes, libc::MAP_FIXED) };
        if done.is_ok() {
            let first = (self.base - STUBS.base.load(Ordering::Relaxed)) / PAGE;
            let _section = SignalSafe::enter();
            lock_pages().free.push((first, bytes / PAGE));
        }
    }
}

/// A function of the embedder behind a stub of its own. It reads and writes the native frame
/// itself.
#[repr(C, align(16))]
pub struct HostEntry {
    /// The function.
    pub run: Box<dyn Fn(&mut NativeFrame) + Send + Sync>,
}

impl std::fmt::Debug for HostEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostEntry")
    }
}

/// Tag in the datum of a [`HostEntry`]'s stub.
pub(super) const HOST_TAG: usize = 1;

/// The action of a stub.
#[derive(Clone, Copy, Debug)]
pub enum StubKind {
    /// Enters a guest function.
    Function(*const FuncRef),
    /// Enters a function of the embedder.
    Host(*const HostEntry),
    /// Jumps to the address in the cell (an ifunc).
    Jump(*const AtomicUsize),
}

/// # Safety
/// With `MAP_FIXED`, the range must belong to the caller.
unsafe fn map(at: *mut c_void, bytes: usize, flags: i32) -> Result<usize, String> {
    // SAFETY: an anonymous mapping; `MAP_FIXED` replaces the caller's own range only.
    let p = unsafe {
        libc::mmap(
            at,
            bytes,
            libc::PROT_READ,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | flags,
            -1,
            0,
        )
    };
    if p == libc::MAP_FAILED {
        let error = std::io::Error::last_os_error();
        return Err(limits::refusal("the program's functions", &error));
    }
    Ok(p as usize)
}

fn area() -> Result<usize, String> {
    STUBS
        .reserved
        .get_or_init(|| {
            let bytes = limits::reserve(AREA, 16, LEAST_AREA);
            // SAFETY: fresh mappings; `MAP_FIXED_NOREPLACE` fails if the range is in use.
            let at = |place: usize| unsafe {
                map(place as *mut c_void, bytes, libc::MAP_FIXED_NOREPLACE)
            };
            let near = NEAR.into_iter().find_map(|place| at(place).ok());
            // SAFETY: a fresh mapping at an address that the system chooses.
            let base = near.map_or_else(|| unsafe { map(ptr::null_mut(), bytes, 0) }, Ok)?;
            // The first page holds the address of the common entry.
            // SAFETY: the first page of our own mapping.
            unsafe {
                let p = base as *mut c_void;
                if libc::mprotect(p, PAGE, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                    return Err(std::io::Error::last_os_error().to_string());
                }
                *(base as *mut usize) = abi::entry_address();
                libc::mprotect(p, PAGE, libc::PROT_READ);
            }
            STUBS.base.store(base, Ordering::Release);
            // Release: a reader that sees the size sees the base.
            STUBS.bytes.store(bytes, Ordering::Release);
            Ok(base)
        })
        .clone()
}
