//! A table of the guest's heap blocks, which lets a compiled loop prove that its arrays do not
//! overlap.
//!
//! The guest's calls of the C library's allocation functions and of C++'s operators pass through
//! wrappers here. The wrappers record the start of each larger block that the program's main thread
//! allocates; [`distinct`] returns true if pointers are starts of different blocks. Compiled loops
//! call it at their head (`version_aliases.cpp`) and have a version for either answer, so an
//! unrecorded block costs speed and nothing else. Hence the table is small: a line holds eight
//! starts, and a block whose line is full is not recorded.
//!
//! Only starts are recorded, and only for glibc's allocator: between two of its blocks lies the
//! second one's header, so no pointer to the end of one block is the start of the next. Only one
//! thread records: programs allocate their large arrays there, and threads that allocate much would
//! contend for the lines.
//!
//! A native library may free a block that it was handed, unseen, so that a stale start remains. If
//! the guest later allocates a block over it, that block's extent exposes the stale start; for a
//! wrong answer, two stale starts would have to lie in one block that a library allocated itself.
//!
//! Does not record blocks of `mmap`, of OpenMP's allocators and of native libraries.

use super::thread::{LOCALS, ThreadState};
use ompvm_support::settings;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The least bytes of a recorded block.
const LARGE: usize = 1024;
/// The least bytes of a `malloc` block that is aligned to a cache line. glibc's large blocks begin
/// 16 bytes behind the start of a page, so every second vector of 256 bits would straddle two
/// lines.
const LEAST_ALIGNED: usize = 64 << 10;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of the block that tells glibc how much free memory to retain. Its limit for such blocks is
/// 32 MiB.
const RETAINED: usize = 4 << 20;
/// Marker of an entry that is claimed but not filled; no block starts there.
const CLAIMED: usize = 1;
/// Starts in a line of the table; lines in the table.
const WIDTH: usize = 8;
const LINES: usize = 1024;

/// One cache line with starts, of which 0 is an empty entry, and one with sizes.
#[repr(align(128))]
struct Line {
    starts: [AtomicUsize; WIDTH],
    sizes: [AtomicUsize; WIDTH],
}

struct Table([Line; LINES]);

/// Relaxed throughout: a thread receives a pointer from another thread by synchronization that also
/// makes the stores of its start and size visible, and both stay unchanged while the block lives.
const ORDER: Ordering = Ordering::Relaxed;

/// The C library's heap, as far as this module manages it.
struct Heap {
    blocks: Table,
    /// True once glibc was made to retain free memory.
    retains: AtomicBool,
}

/// The heap of this process, which has one C library for all programs.
static HEAP: Heap = Heap {
    blocks: Table::new(),
    retains: AtomicBool::new(false),
};

impl Table {
    const fn new() -> Self {
        Self(
            [const {
                Line {
                    starts: [const { AtomicUsize::new(0) }; WIDTH],
                    sizes: [const { AtomicUsize::new(0) }; WIDTH],
                }
            }; LINES],
        )
    }

    fn line(&self, start: usize) -> &Line {
        // Starts are multiples of 16, large ones of a page and 16, so the hash uses all of their
        // bits.
        let hash = (start >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.0[hash >> (usize::BITS - LINES.ilog2())]
    }

    /// Records a block in an empty entry of its line. The start must be unique.
    fn record(&self, start: usize, size: usize) {
        self.forget(start);
        let line = self.line(start);
        let take = |p: &AtomicUsize| p.compare_exchange(0, CLAIMED, ORDER, ORDER).is_ok();
        if let Some(number) = line.starts.iter().position(take) {
            line.sizes[number].store(size, ORDER);
            line.starts[number].store(start, ORDER);
        }
    }

    fn forget(&self, start: usize) {
        for place in &self.line(start).starts {
            if place.load(ORDER) == start {
                place.store(0, ORDER);
            }
        }
    }

    /// Returns the size of the block that starts here, if it is recorded.
    fn size(&self, start: usize) -> Option<usize> {
        let line = self.line(start);
        let number = line.starts.iter().position(|p| p.load(ORDER) == start)?;
        (start > CLAIMED).then(|| line.sizes[number].load(ORDER))
    }

    fn distinct(&self, starts: &[usize], places: &[[usize; 2]]) -> bool {
        starts.iter().enumerate().all(|(i, &start)| {
            let Some(size) = self.size(start) else {
                return false;
            };
            let another =
                |(j, &other): (usize, &usize)| i == j || other.wrapping_sub(start) >= size;
            let outside = |&[first, end]: &[usize; 2]| first >= start + size || start >= end;
            starts.iter().enumerate().all(another) && places.iter().all(outside)
        })
    }
}

/// Starts to record the allocations of the calling thread. Does its work once per thread, since
/// each call from Rust comes here.
///
/// # Safety
/// `state` is this thread's state.
#[inline]
pub unsafe fn record_allocations(state: *mut ThreadState) {
    // SAFETY: the state is this thread's by contract, and alive.
    unsafe {
        if !(*state).recording_decided {
            (*state).recording_decided = true;
            start_recording();
        }
    }
}

#[cold]
fn start_recording() {
    if settings::current().speculate {
        LOCALS.with(|l| l.records_allocations.set(true));
    }
}

/// Makes glibc retain up to twice [`RETAINED`] of free memory at the heap's end, once per process.
///
/// glibc releases memory beyond twice the largest mapped block that was freed so far. A program
/// that allocates and frees arrays in each iteration (LULESH) would fault in each page anew each
/// time, unless it freed a large block before. Natively one is freed: a block of the native
/// runtime.
pub fn retain_free_memory() {
    if !HEAP.retains.swap(true, ORDER) && uses_glibc_allocator() {
        // SAFETY: frees a block that was just allocated; `black_box` keeps the compiler from
        // removing the pair.
        unsafe { libc::free(std::hint::black_box(libc::malloc(RETAINED))) };
    }
}

/// Returns true if the pointers are starts of different heap blocks and the ranges lie in none of
/// them; `ompvm.distinct` of compiled code.
///
/// # Safety
/// `list` has `starts` pointers, then for each of the `places` ranges its first byte and the one
/// behind its last.
pub unsafe extern "C" fn distinct(list: *const usize, starts: u32, places: u32) -> bool {
    // SAFETY: the list has these lengths by contract.
    unsafe {
        let rest = list.add(starts as usize).cast::<[usize; 2]>();
        HEAP.blocks.distinct(
            std::slice::from_raw_parts(list, starts as usize),
            std::slice::from_raw_parts(rest, places as usize),
        )
    }
}

#[inline]
fn record_block(block: *mut c_void, size: usize) -> *mut c_void {
    if size >= LARGE && !block.is_null() && LOCALS.with(|l| l.records_allocations.get()) {
        // The whole usable size counts: the guest can ask for it, too.
        // SAFETY: a live block of glibc's allocator.
        HEAP.blocks
            .record(block as usize, unsafe { libc::malloc_usable_size(block) });
    }
    block
}

#[inline]
fn forget_block(block: *mut c_void) {
    if !block.is_null() {
        HEAP.blocks.forget(block as usize);
    }
}

unsafe extern "C" {
    fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void;
    fn memalign(align: usize, size: usize) -> *mut c_void;
    fn valloc(size: usize) -> *mut c_void;
}

unsafe extern "C" fn recording_malloc(size: usize) -> *mut c_void {
    if size >= LEAST_ALIGNED {
        // SAFETY: alignment and size are valid; `free` and `realloc` accept blocks of `memalign`.
        return record_block(unsafe { memalign(LINE, size) }, size);
    }
    // SAFETY: forwards the guest's call of `malloc`.
    record_block(unsafe { libc::malloc(size) }, size)
}

unsafe extern "C" fn recording_calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: forwards the guest's call of `calloc`.
    record_block(
        unsafe { libc::calloc(count, size) },
        count.saturating_mul(size),
    )
}

/// Forgets the block before the allocator can reuse it. A block that could not grow stays
/// allocated, unrecorded.
unsafe extern "C" fn recording_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    forget_block(block);
    // SAFETY: forwards the guest's call of `realloc`.
    record_block(unsafe { libc::realloc(block, size) }, size)
}

unsafe extern "C" fn recording_reallocarray(
    block: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    forget_block(block);
    // SAFETY: forwards the guest's call of `reallocarray`.
    record_block(
        unsafe { reallocarray(block, count, size) },
        count.saturating_mul(size),
    )
}

unsafe extern "C" fn recording_aligned_alloc(align: usize, size: usize) -> *mut c_void {
    // SAFETY: forwards the guest's call of `aligned_alloc`.
    record_block(unsafe { libc::aligned_alloc(align, size) }, size)
}

unsafe extern "C" fn recording_memalign(align: usize, size: usize) -> *mut c_void {
    // SAFETY: forwards the guest's call of `memalign`.
    record_block(unsafe { memalign(align, size) }, size)
}

unsafe extern "C" fn recording_valloc(size: usize) -> *mut c_void {
    // SAFETY: forwards the guest's call of `valloc`.
    record_block(unsafe { valloc(size) }, size)
}

unsafe extern "C" fn recording_posix_memalign(
    out: *mut *mut c_void,
    align: usize,
    size: usize,
) -> c_int {
    // SAFETY: forwards the guest's call of `posix_memalign`; `out` is written if it returns 0.
    unsafe {
        let failed = libc::posix_memalign(out, align, size);
        if failed == 0 {
            record_block(*out, size);
        }
        failed
    }
}

unsafe extern "C" fn recording_free(block: *mut c_void) {
    forget_block(block);
    // SAFETY: forwards the guest's call of `free`.
    unsafe { libc::free(block) }
}

/// C++'s operators: the address of each in the process, and the wrapper around it.
macro_rules! operators {
    ($($symbol:literal $real:ident $before:ident ($first:ident $(, $rest:ident)*) $(-> $recorder:ident)?;)*) => {
        $(
            static $real: AtomicUsize = AtomicUsize::new(0);
            unsafe extern "C-unwind" fn $before($first: usize $(, $rest: usize)*) -> *mut c_void {
                type Real = unsafe extern "C-unwind" fn(usize $(, operators!(@word $rest))*) -> *mut c_void;
                // SAFETY: `operator` stored the address of the operator of this name before it
                // returned the wrapper's address; the result is unused for an operator that has
                // none.
                let real = unsafe { std::mem::transmute::<usize, Real>($real.load(ORDER)) };
                operators!(
                    @call $first,
                    // SAFETY: forwards the guest's call of the operator.
                    unsafe { real($first $(, $rest)*) } $(, $recorder)?
                )
            }
        )*

        fn operator(name: &str, address: usize) -> Option<usize> {
            match name {
                $($symbol => {
                    $real.store(address, ORDER);
                    Some($before as *const () as usize)
                })*
                _ => None,
            }
        }
    };
    (@word $any:ident) => { usize };
    (@call $size:ident, $call:expr, $recorder:ident) => { $recorder($call, $size) };
    (@call $block:ident, $call:expr) => {{
        forget_block($block as *mut c_void);
        $call
    }};
}
operators! {
    "_Znwm" NEW new (size) -> record_block;
    "_Znam" NEW_ARRAY new_array (size) -> record_block;
    "_ZnwmRKSt9nothrow_t" NEW_NOTHROW new_nothrow (size, tag) -> record_block;
    "_ZnamRKSt9nothrow_t" NEW_ARRAY_NOTHROW new_array_nothrow (size, tag) -> record_block;
    "_ZnwmSt11align_val_t" NEW_ALIGNED new_aligned (size, align) -> record_block;
    "_ZnamSt11align_val_t" NEW_ARRAY_ALIGNED new_array_aligned (size, align) -> record_block;
    "_ZdlPv" DELETE delete (block);
    "_ZdaPv" DELETE_ARRAY delete_array (block);
    "_ZdlPvm" DELETE_SIZED delete_sized (block, size);
    "_ZdaPvm" DELETE_ARRAY_SIZED delete_array_sized (block, size);
    "_ZdlPvRKSt9nothrow_t" DELETE_NOTHROW delete_nothrow (block, tag);
    "_ZdaPvRKSt9nothrow_t" DELETE_ARRAY_NOTHROW delete_array_nothrow (block, tag);
    "_ZdlPvSt11align_val_t" DELETE_ALIGNED delete_aligned (block, align);
    "_ZdaPvSt11align_val_t" DELETE_ARRAY_ALIGNED delete_array_aligned (block, align);
    "_ZdlPvmSt11align_val_t" DELETE_SIZED_ALIGNED delete_sized_aligned (block, size, align);
    "_ZdaPvmSt11align_val_t" DELETE_ARRAY_SIZED_ALIGNED delete_array_sized_aligned (block, size, align);
}

/// Returns the wrapper that the guest calls in place of the function at `address`; `None` for
/// functions that neither allocate nor free, and if the allocator is not glibc's.
pub fn wrapper_of(name: &str, address: usize) -> Option<usize> {
    let instead = match name {
        "malloc" => recording_malloc as *const (),
        "calloc" => recording_calloc as *const (),
        "realloc" => recording_realloc as *const (),
        "reallocarray" => recording_reallocarray as *const (),
        "aligned_alloc" => recording_aligned_alloc as *const (),
        "memalign" => recording_memalign as *const (),
        "valloc" => recording_valloc as *const (),
        "posix_memalign" => recording_posix_memalign as *const (),
        "free" => recording_free as *const (),
        _ if name.starts_with("_Zn") || name.starts_with("_Zd") => {
            return (uses_glibc_allocator() && is_libstdcxx_function(address))
                .then(|| operator(name, address))
                .flatten();
        }
        _ => return None,
    };
    let name = std::ffi::CString::new(name).ok()?;
    (uses_glibc_allocator() && is_glibc_function(&name, address)).then_some(instead as usize)
}

/// Returns true if the process's allocator is glibc's.
fn uses_glibc_allocator() -> bool {
    // SAFETY: only the address is taken.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    is_glibc_function(c"malloc", found as usize)
}

/// Returns true if a function at this address belongs to libstdc++, whose operators call the
/// process's allocator.
fn is_libstdcxx_function(address: usize) -> bool {
    // SAFETY: `dladdr` fills the record if it returns nonzero; the name is the loader's C string.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return false;
        }
        let file = std::ffi::CStr::from_ptr(info.dli_fname).to_bytes();
        let name = file.rsplit(|&b| b == b'/').next().unwrap_or(file);
        name.starts_with(b"libstdc++.so")
    }
}

/// Returns true if a function at this address is glibc's own of that name.
fn is_glibc_function(name: &std::ffi::CStr, address: usize) -> bool {
    // SAFETY: `RTLD_NOLOAD` opens no new library; only addresses are taken.
    unsafe {
        let library = libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return false;
        }
        let found = libc::dlsym(library, name.as_ptr()) as usize;
        libc::dlclose(library);
        found == address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_of_different_blocks_are_distinct() {
        let table = Table::new();
        table.record(0x10_0010, 0x1000);
        table.record(0x20_0010, 0x1000);
        assert!(table.distinct(&[0x10_0010, 0x20_0010], &[]));
        assert!(
            !table.distinct(&[0x10_0010, 0x10_0010], &[]),
            "the same block"
        );
        assert!(
            !table.distinct(&[0x10_0010, 0x20_0018], &[]),
            "inside of one"
        );
        assert!(!table.distinct(&[0x10_0010, 0], &[]));
        table.forget(0x20_0010);
        assert!(!table.distinct(&[0x10_0010, 0x20_0010], &[]), "given back");
    }

    #[test]
    fn ranges_lie_in_none_of_the_blocks() {
        let table = Table::new();
        table.record(0x10_0010, 0x1000);
        let ask = |first, end| table.distinct(&[0x10_0010], &[[1, 9], [first, end]]);
        assert!(ask(0x10_0008, 0x10_0010) && ask(0x10_1010, 0x10_1018));
        assert!(!ask(0x10_0008, 0x10_0011) && !ask(0x10_100f, 0x10_1010));
        assert!(!ask(0x10_0800, 0x10_0808) && !ask(0x10_0000, 0x10_2000));
    }

    #[test]
    fn a_stale_start_within_another_block_is_not_distinct() {
        let table = Table::new();
        table.record(0x10_0010, 0x1000);
        table.record(0x10_2010, 0x1000);
        // A stale start of each: neither block was seen to be freed.
        table.record(0x10_0000, 0x4000);
        assert!(!table.distinct(&[0x10_0010, 0x10_0000], &[]));
        assert!(!table.distinct(&[0x10_0000, 0x10_2010], &[]));
        assert!(table.distinct(&[0x10_0000], &[]));
        table.record(0x10_2010, 0x10);
        assert!(!table.distinct(&[0x10_2010, 0x10_0000], &[]));
    }

    #[test]
    fn blocks_beyond_a_full_line_are_not_recorded() {
        let table = Table::new();
        let starts: Vec<usize> = (1..=4 * LINES * WIDTH).map(|n| n << 16 | 0x10).collect();
        for &start in &starts {
            table.record(start, 2048);
        }
        let kept: Vec<usize> = starts
            .iter()
            .copied()
            .filter(|&s| table.size(s).is_some())
            .collect();
        assert!(kept.len() > LINES * WIDTH / 2, "{}", kept.len());
        assert!(table.distinct(&kept, &[]));
        for &start in &starts {
            table.forget(start);
        }
        assert!(starts.iter().all(|&s| table.size(s).is_none()));
    }

    #[test]
    fn guest_blocks_are_recorded_until_freed() {
        // The flag is per thread, so a separate thread leaves none behind.
        let run = || {
            start_recording();
            // SAFETY: the C library's functions, used according to their contracts.
            unsafe {
                let (a, b) = (recording_malloc(4096), recording_calloc(512, 8));
                let small = recording_malloc(16);
                let large = recording_malloc(LEAST_ALIGNED);
                assert_eq!(large as usize % LINE, 0);
                let large = recording_realloc(large, 64 * LEAST_ALIGNED);
                assert!(libc::malloc_usable_size(large) >= 64 * LEAST_ALIGNED);
                recording_free(large);
                let ask =
                    |list: &[*mut c_void]| distinct(list.as_ptr().cast(), list.len() as u32, 0);
                assert!(ask(&[a, b]));
                assert!(!ask(&[a, small]));
                let b = recording_realloc(b, 1 << 20);
                assert!(ask(&[a, b]));
                recording_free(b);
                assert!(!ask(&[a, b]));
                recording_free(a);
                recording_free(small);
            }
        };
        std::thread::spawn(run).join().unwrap();
    }

    #[test]
    fn functions_of_another_allocator_get_no_wrapper() {
        assert!(wrapper_of("malloc", libc::malloc as *const () as usize).is_some());
        assert_eq!(wrapper_of("malloc", 0x1234), None);
        assert_eq!(
            wrapper_of("getpid", libc::getpid as *const () as usize),
            None
        );
    }
}
