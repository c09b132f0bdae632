//! A table of the guest's heap blocks, which lets a compiled loop prove that its arrays do not
//! overlap.
//!
//! The guest's calls of the C library's allocation functions and of C++'s operators pass through
//! wrappers here. The wrappers record the start of each larger block that the program's main thread
//! allocates; [`distinct`] returns true if pointers are starts of different blocks. Compiled loops
//! call it at their head (`speculate.cpp`) and have a version for either answer, so an unrecorded
//! block costs speed and nothing else. Hence the table is small: a line holds eight starts, and a
//! block whose line is full is not recorded.
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

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The least bytes of a recorded block.
const LARGE: usize = 1024;
/// The least bytes of a `malloc` block that is aligned to a cache line. glibc's large blocks begin
/// 16 bytes behind the start of a page, so every second vector of 256 bits would straddle two
/// lines.
const STREAMED: usize = 64 << 10;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of the block that tells glibc how much free memory to retain. Its limit for such blocks is
/// 32 MiB.
const FREED: usize = 4 << 20;
/// Marker of an entry that is claimed but not filled; no block starts there.
const TAKEN: usize = 1;
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

static TABLE: Table = Table::new();

thread_local! {
    /// True if allocations of this thread are recorded.
    static KEEPS: Cell<bool> = const { Cell::new(false) };
}

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
    fn keep(&self, start: usize, size: usize) {
        self.forget(start);
        let line = self.line(start);
        let take = |p: &AtomicUsize| p.compare_exchange(0, TAKEN, ORDER, ORDER).is_ok();
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
        (start > TAKEN).then(|| line.sizes[number].load(ORDER))
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

/// Starts to record the allocations of the calling thread.
#[inline]
pub fn keep_from_here() {
    // The environment is read once: each call from Rust comes here.
    static ASKED: OnceLock<bool> = OnceLock::new();
    let asked = || std::env::var_os("OMPVM_SPECULATE").is_none_or(|v| v != "0");
    if *ASKED.get_or_init(asked) {
        KEEPS.set(true);
    }
}

/// Makes glibc retain up to twice [`FREED`] of free memory at the heap's end, once per process.
///
/// glibc releases memory beyond twice the largest mapped block that was freed so far. A program
/// that allocates and frees arrays in each iteration (LULESH) would fault in each page anew each
/// time, unless it freed a large block before. Natively one is freed: a block of the native
/// runtime.
pub fn keep_free_memory() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, ORDER) && usual() {
        // SAFETY: frees a block that was just allocated; `black_box` keeps the compiler from
        // removing the pair.
        unsafe { libc::free(std::hint::black_box(libc::malloc(FREED))) };
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
        TABLE.distinct(
            std::slice::from_raw_parts(list, starts as usize),
            std::slice::from_raw_parts(rest, places as usize),
        )
    }
}

#[inline]
fn made(block: *mut c_void, size: usize) -> *mut c_void {
    if size >= LARGE && !block.is_null() && KEEPS.get() {
        // The whole usable size counts: the guest can ask for it, too.
        // SAFETY: a live block of glibc's allocator.
        TABLE.keep(block as usize, unsafe { libc::malloc_usable_size(block) });
    }
    block
}

#[inline]
fn gone(block: *mut c_void) {
    if !block.is_null() {
        TABLE.forget(block as usize);
    }
}

unsafe extern "C" {
    fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void;
    fn memalign(align: usize, size: usize) -> *mut c_void;
    fn valloc(size: usize) -> *mut c_void;
}

unsafe extern "C" fn kept_malloc(size: usize) -> *mut c_void {
    if size >= STREAMED {
        // SAFETY: alignment and size are valid; `free` and `realloc` accept blocks of `memalign`.
        return made(unsafe { memalign(LINE, size) }, size);
    }
    // SAFETY: forwards the guest's call of `malloc`.
    made(unsafe { libc::malloc(size) }, size)
}

unsafe extern "C" fn kept_calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: forwards the guest's call of `calloc`.
    made(
        unsafe { libc::calloc(count, size) },
        count.saturating_mul(size),
    )
}

/// Forgets the block before the allocator can reuse it. A block that could not grow stays
/// allocated, unrecorded.
unsafe extern "C" fn kept_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    gone(block);
    // SAFETY: forwards the guest's call of `realloc`.
    made(unsafe { libc::realloc(block, size) }, size)
}

unsafe extern "C" fn kept_reallocarray(
    block: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    gone(block);
    // SAFETY: forwards the guest's call of `reallocarray`.
    made(
        unsafe { reallocarray(block, count, size) },
        count.saturating_mul(size),
    )
}

unsafe extern "C" fn kept_aligned_alloc(align: usize, size: usize) -> *mut c_void {
    // SAFETY: forwards the guest's call of `aligned_alloc`.
    made(unsafe { libc::aligned_alloc(align, size) }, size)
}

unsafe extern "C" fn kept_memalign(align: usize, size: usize) -> *mut c_void {
    // SAFETY: forwards the guest's call of `memalign`.
    made(unsafe { memalign(align, size) }, size)
}

unsafe extern "C" fn kept_valloc(size: usize) -> *mut c_void {
    // SAFETY: forwards the guest's call of `valloc`.
    made(unsafe { valloc(size) }, size)
}

unsafe extern "C" fn kept_posix_memalign(
    out: *mut *mut c_void,
    align: usize,
    size: usize,
) -> c_int {
    // SAFETY: forwards the guest's call of `posix_memalign`; `out` is written if it returns 0.
    unsafe {
        let failed = libc::posix_memalign(out, align, size);
        if failed == 0 {
            made(*out, size);
        }
        failed
    }
}

unsafe extern "C" fn kept_free(block: *mut c_void) {
    gone(block);
    // SAFETY: forwards the guest's call of `free`.
    unsafe { libc::free(block) }
}

/// C++'s operators: the address of each in the process, and the wrapper around it.
macro_rules! operators {
    ($($symbol:literal $real:ident $before:ident ($first:ident $(, $rest:ident)*) $(-> $made:ident)?;)*) => {
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
                    unsafe { real($first $(, $rest)*) } $(, $made)?
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
    (@call $size:ident, $call:expr, $made:ident) => { $made($call, $size) };
    (@call $block:ident, $call:expr) => {{
        gone($block as *mut c_void);
        $call
    }};
}
operators! {
    "_Znwm" NEW new (size) -> made;
    "_Znam" NEW_ARRAY new_array (size) -> made;
    "_ZnwmRKSt9nothrow_t" NEW_NOTHROW new_nothrow (size, tag) -> made;
    "_ZnamRKSt9nothrow_t" NEW_ARRAY_NOTHROW new_array_nothrow (size, tag) -> made;
    "_ZnwmSt11align_val_t" NEW_ALIGNED new_aligned (size, align) -> made;
    "_ZnamSt11align_val_t" NEW_ARRAY_ALIGNED new_array_aligned (size, align) -> made;
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
pub fn before(name: &str, address: usize) -> Option<usize> {
    let instead = match name {
        "malloc" => kept_malloc as *const (),
        "calloc" => kept_calloc as *const (),
        "realloc" => kept_realloc as *const (),
        "reallocarray" => kept_reallocarray as *const (),
        "aligned_alloc" => kept_aligned_alloc as *const (),
        "memalign" => kept_memalign as *const (),
        "valloc" => kept_valloc as *const (),
        "posix_memalign" => kept_posix_memalign as *const (),
        "free" => kept_free as *const (),
        _ if name.starts_with("_Zn") || name.starts_with("_Zd") => {
            return (usual() && of_libstdcxx(address))
                .then(|| operator(name, address))
                .flatten();
        }
        _ => return None,
    };
    let name = std::ffi::CString::new(name).ok()?;
    (usual() && glibc(&name, address)).then_some(instead as usize)
}

/// Returns true if the process's allocator is glibc's.
fn usual() -> bool {
    // SAFETY: only the address is taken.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    glibc(c"malloc", found as usize)
}

/// Returns true if a function at this address belongs to libstdc++, whose operators call the
/// process's allocator.
fn of_libstdcxx(address: usize) -> bool {
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
fn glibc(name: &std::ffi::CStr, address: usize) -> bool {
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
        table.keep(0x10_0010, 0x1000);
        table.keep(0x20_0010, 0x1000);
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
    fn places_lie_in_none_of_the_blocks() {
        let table = Table::new();
        table.keep(0x10_0010, 0x1000);
        let ask = |first, end| table.distinct(&[0x10_0010], &[[1, 9], [first, end]]);
        assert!(ask(0x10_0008, 0x10_0010) && ask(0x10_1010, 0x10_1018));
        assert!(!ask(0x10_0008, 0x10_0011) && !ask(0x10_100f, 0x10_1010));
        assert!(!ask(0x10_0800, 0x10_0808) && !ask(0x10_0000, 0x10_2000));
    }

    #[test]
    fn a_start_that_lies_in_another_block_is_none() {
        let table = Table::new();
        table.keep(0x10_0010, 0x1000);
        table.keep(0x10_2010, 0x1000);
        // A stale start of each: neither block was seen to be freed.
        table.keep(0x10_0000, 0x4000);
        assert!(!table.distinct(&[0x10_0010, 0x10_0000], &[]));
        assert!(!table.distinct(&[0x10_0000, 0x10_2010], &[]));
        assert!(table.distinct(&[0x10_0000], &[]));
        table.keep(0x10_2010, 0x10);
        assert!(!table.distinct(&[0x10_2010, 0x10_0000], &[]));
    }

    #[test]
    fn more_blocks_than_places_are_only_forgotten() {
        let table = Table::new();
        let starts: Vec<usize> = (1..=4 * LINES * WIDTH).map(|n| n << 16 | 0x10).collect();
        for &start in &starts {
            table.keep(start, 2048);
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
    fn what_the_guest_allocates_is_kept_until_it_is_given_back() {
        // The flag is per thread, so a separate thread leaves none behind.
        let run = || {
            keep_from_here();
            // SAFETY: the C library's functions, used according to their contracts.
            unsafe {
                let (a, b) = (kept_malloc(4096), kept_calloc(512, 8));
                let small = kept_malloc(16);
                let large = kept_malloc(STREAMED);
                assert_eq!(large as usize % LINE, 0);
                let large = kept_realloc(large, 64 * STREAMED);
                assert!(libc::malloc_usable_size(large) >= 64 * STREAMED);
                kept_free(large);
                let ask =
                    |list: &[*mut c_void]| distinct(list.as_ptr().cast(), list.len() as u32, 0);
                assert!(ask(&[a, b]));
                assert!(!ask(&[a, small]));
                let b = kept_realloc(b, 1 << 20);
                assert!(ask(&[a, b]));
                kept_free(b);
                assert!(!ask(&[a, b]));
                kept_free(a);
                kept_free(small);
            }
        };
        std::thread::spawn(run).join().unwrap();
    }

    #[test]
    fn functions_of_another_allocator_are_left_alone() {
        assert!(before("malloc", libc::malloc as *const () as usize).is_some());
        assert_eq!(before("malloc", 0x1234), None);
        assert_eq!(before("getpid", libc::getpid as *const () as usize), None);
    }
}
