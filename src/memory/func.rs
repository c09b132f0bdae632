//! Guest functions as native code sees them: one [`FuncRef`] and one native-callable stub each.
//!
//! Why stubs: qsort, pthread_create, atexit, signal handlers and the OpenMP runtime call guest
//! functions through plain C function pointers. A stub loads its `FuncRef` into r11 and jumps to
//! the common entry of [`super::abi`]. All stubs of the process lie in one reserved range, so
//! [`from_address`] is a range check and one load; a page that holds no stubs reads as zeros.
//!
//! What not: no code is generated per signature; the entry hook reads arguments by plan.

use super::abi::{self, CallPlan, NativeFrame};
use super::image::Image;
use crate::ir::FuncId;
use crate::support::limits;
use once_cell::race::OnceBox;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// One defined guest function.
#[repr(C)]
#[derive(Debug)]
pub struct FuncRef {
    /// The native-callable address: the guest's function pointer.
    pub stub: usize,
    /// Where the stub goes: the common entry into the interpreter, or compiled code. One store
    /// switches every native caller.
    pub entry: AtomicUsize,
    /// The interpreter's code, null until lowered; owned by the interpreter.
    pub code: AtomicPtr<c_void>,
    /// Which function of the module.
    pub id: FuncId,
    /// Whether native callers came since [`FuncRef::was_called`] asked.
    pub called: AtomicBool,
    /// Compiled code, where the entry is what notes calls.
    pub direct: AtomicUsize,
    /// The image it belongs to.
    pub image: *const Image,
    /// How native arguments become slots, made at the first entry from native code. No thread
    /// waits for another's: a child of `fork` would for ever.
    pub plan: OnceBox<Arc<CallPlan>>,
}

// SAFETY: the raw image pointer is set before the reference is shared and only read afterwards;
// the image outlives its functions; everything else is atomic or a OnceBox.
unsafe impl Send for FuncRef {}
// SAFETY: as above.
unsafe impl Sync for FuncRef {}

impl FuncRef {
    /// The image the function belongs to.
    pub fn image(&self) -> &Image {
        // SAFETY: an image sets this pointer to itself before handing out references, and owns
        // its FuncRefs.
        unsafe { &*self.image }
    }

    /// Whether native callers reach compiled code.
    pub fn is_compiled(&self) -> bool {
        self.entry.load(Ordering::Acquire) != abi::entry_address()
    }

    /// Whether compiled code was called through the stub since this was asked last. What is called costs one
    /// load more from then on, until other code takes its place. Not for several threads at once.
    pub fn was_called(&self) -> bool {
        let witness = abi::witness_address();
        let entry = self.entry.load(Ordering::Acquire);
        if entry == witness {
            return self.called.swap(false, Ordering::Relaxed);
        }
        if self.is_compiled() {
            self.called.store(false, Ordering::Relaxed);
            self.direct.store(entry, Ordering::Release);
            // Other code that comes now stays.
            let _ =
                self.entry
                    .compare_exchange(entry, witness, Ordering::AcqRel, Ordering::Relaxed);
        }
        false
    }

    /// The plan of the function's own (fixed) signature, made at the first use.
    ///
    /// # Errors
    /// Why the signature cannot be called from native code.
    pub fn plan(&self) -> Result<&Arc<CallPlan>, String> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let module = &self.image().module;
        let plan = CallPlan::for_function(module, &module.functions[self.id])?;
        Ok(self.plan.get_or_init(|| Box::new(Arc::new(plan))))
    }
}

/// Bytes reserved for stubs where address space is not limited: 8 Mi functions.
const AREA: usize = 256 << 20;
/// Where the stubs lie, at the first place that is free: right below and above the range of `MAP_32BIT`, where the
/// program's data is, since relative virtual tables hold 32-bit distances from data to functions. The kernel starts the
/// heap of an executable at a fixed address anywhere in the first GiB, so one of four starts finds the first one taken.
const NEAR: [usize; 4] = [
    (1 << 30) - AREA,
    2 << 30,
    (2 << 30) + AREA,
    (2 << 30) + 2 * AREA,
];
/// Bytes reserved in any case.
const LEAST_AREA: usize = 4 << 20;
/// Bytes per stub.
const STUB: usize = 32;
/// Where in a stub its datum (the `FuncRef` or the jump target) lies.
const DATUM: usize = 24;
const PAGE: usize = 4096;

static BASE: AtomicUsize = AtomicUsize::new(0);
/// Bytes of the area; 0 until there is one.
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// Free page ranges of the area (first page, pages) and the first page never used.
struct Pages {
    free: Vec<(usize, usize)>,
    next: usize,
}

static PAGES: Mutex<Pages> = Mutex::new(Pages {
    free: Vec::new(),
    next: 1,
});

/// The guest function whose stub lies at `addr`, if any.
#[inline]
pub fn from_address(addr: usize) -> Option<&'static FuncRef> {
    let bytes = BYTES.load(Ordering::Acquire);
    let offset = addr.wrapping_sub(BASE.load(Ordering::Relaxed));
    if offset >= bytes || !offset.is_multiple_of(STUB) || offset < PAGE {
        return None;
    }
    // SAFETY: the whole area is readable for the life of the process; the datum of a slot that
    // holds no stub is zero, and only a guest function's stub has the mark before it.
    unsafe {
        if *((addr + DATUM - 1) as *const u8) != KIND_FUNC {
            return None;
        }
        (*((addr + DATUM) as *const *const FuncRef)).as_ref()
    }
}

/// The guest function in whose stub an address lies, if any.
pub fn containing(addr: usize) -> Option<&'static FuncRef> {
    let base = BASE.load(Ordering::Relaxed);
    from_address(addr - addr.wrapping_sub(base) % STUB)
}

/// Marks a stub of a guest function in the byte before the datum.
const KIND_FUNC: u8 = 0xf1;
/// Marks a stub that only jumps.
const KIND_JUMP: u8 = 0x1f;

/// A run of stubs, given back when dropped.
#[derive(Debug)]
pub struct Stubs {
    base: usize,
    len: usize,
}

impl Stubs {
    /// Reserves `len` stubs; they are filled by [`Stubs::write`].
    ///
    /// # Errors
    /// The system's message when memory is short.
    pub fn new(len: usize) -> Result<Stubs, String> {
        let area = area()?;
        let pages = (len * STUB).div_ceil(PAGE).max(1);
        let mut state = PAGES.lock();
        let found = state.free.iter().position(|&(_, n)| n == pages);
        let first = match found {
            Some(i) => state.free.swap_remove(i).0,
            None => {
                let first = state.next;
                if (first + pages) * PAGE > BYTES.load(Ordering::Relaxed) {
                    return Err("too many guest functions".into());
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

    /// Where the stubs lie, in whole pages: the first address and the number of bytes.
    pub fn pages(&self) -> (usize, usize) {
        (self.base, (self.len * STUB).div_ceil(PAGE).max(1) * PAGE)
    }

    /// The address of stub `index`.
    pub fn address(&self, index: usize) -> usize {
        debug_assert!(index < self.len);
        self.base + index * STUB
    }

    /// Writes every stub: a guest function's, or a jump through a cell.
    ///
    /// # Errors
    /// The system's message when protections cannot be changed.
    pub fn write(&self, items: &[StubKind]) -> Result<(), String> {
        assert!(items.len() <= self.len);
        self.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        let area = BASE.load(Ordering::Relaxed);
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
                    // jmp [rip + the cell at the area's start]
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
            // SAFETY: the run's pages are ours and writable now.
            unsafe { ptr::copy_nonoverlapping(code.as_ptr(), at as *mut u8, STUB) };
        }
        self.protect(libc::PROT_READ | libc::PROT_EXEC)
    }

    fn bytes(&self) -> usize {
        (self.len * STUB).div_ceil(PAGE).max(1) * PAGE
    }

    fn protect(&self, prot: i32) -> Result<(), String> {
        // SAFETY: the pages belong to this run.
        if unsafe { libc::mprotect(self.base as *mut c_void, self.bytes(), prot) } != 0 {
            let why = std::io::Error::last_os_error();
            return Err(match prot & libc::PROT_EXEC {
                0 => why.to_string(),
                _ => format!(
                    "the system refuses memory for machine code (mprotect: {why}), without which the program's \
                     functions have no addresses. Allow this process memory that is executed after it was written: a \
                     service's MemoryDenyWriteExecute and SELinux' execmem forbid it"
                ),
            });
        }
        Ok(())
    }
}

impl Drop for Stubs {
    fn drop(&mut self) {
        let bytes = self.bytes();
        // SAFETY: the pages belong to this run; mapping over them makes them read as zeros.
        let done = unsafe { map(self.base as *mut c_void, bytes, libc::MAP_FIXED) };
        if done.is_ok() {
            let first = (self.base - BASE.load(Ordering::Relaxed)) / PAGE;
            PAGES.lock().free.push((first, bytes / PAGE));
        }
    }
}

/// A function of the embedder behind a stub of its own: it reads and writes the frame itself.
#[repr(C, align(16))]
pub struct HostEntry {
    /// What runs.
    pub run: Box<dyn Fn(&mut NativeFrame) + Send + Sync>,
}

impl std::fmt::Debug for HostEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostEntry")
    }
}

/// Set in the datum of a stub of a [`HostEntry`].
pub(super) const HOST_TAG: usize = 1;

/// What a stub does.
#[derive(Clone, Copy, Debug)]
pub enum StubKind {
    /// Enters a guest function.
    Function(*const FuncRef),
    /// Enters a function of the embedder.
    Host(*const HostEntry),
    /// Jumps to the address kept in the cell (an ifunc).
    Jump(*const AtomicUsize),
}

/// # Safety
/// With `MAP_FIXED`, the range must belong to the caller.
unsafe fn map(at: *mut c_void, bytes: usize, flags: i32) -> Result<usize, String> {
    // SAFETY: an anonymous mapping; a fixed one only over the caller's range.
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
        return Err(limits::refused("the program's functions", &error));
    }
    Ok(p as usize)
}

fn area() -> Result<usize, String> {
    static AREA_BASE: OnceLock<Result<usize, String>> = OnceLock::new();
    AREA_BASE
        .get_or_init(|| {
            let bytes = limits::reserve(AREA, 16, LEAST_AREA);
            // SAFETY: fresh mappings; those at a place only where nothing is mapped.
            let at = |place: usize| unsafe {
                map(place as *mut c_void, bytes, libc::MAP_FIXED_NOREPLACE)
            };
            let near = NEAR.into_iter().find_map(|place| at(place).ok());
            // SAFETY: as above, wherever there is room.
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
            BASE.store(base, Ordering::Release);
            // Release: who sees the bytes sees the base.
            BYTES.store(bytes, Ordering::Release);
            Ok(base)
        })
        .clone()
}
