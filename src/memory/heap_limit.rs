//! A limit of the heap memory that one program may hold.
//!
//! The program's calls of functions that allocate or free go to stubs of its own, which hand the
//! program's [`HeapLimit`] to a wrapper in registers that none of these functions use for
//! arguments. So code of every tier and every thread of the program counts, and other programs of
//! the process do not. A request beyond the limit fails as it does natively without memory: the
//! wrapper asks the real function for more than there can be, which then returns null, reports
//! `ENOMEM`, or throws `std::bad_alloc`.
//!
//! Counts the bytes that were asked for and [`BLOCK`] for each block. A block that a library
//! allocated, such as the result of `strdup`, is not counted, and neither are `mmap`, stacks, static
//! data and memory on devices. The table of blocks is not locked while the program forks: a child
//! that allocates may wait for ever if another thread allocated at that moment.

use hashbrown::HashMap;
use ompvm_support::error::Error;
use ompvm_support::fork_lock;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Bytes that a block costs beside its contents.
pub const BLOCK: usize = 16;
/// Parts of the table of blocks, so that threads rarely wait for each other.
const PARTS: usize = 64;
/// More bytes than any allocator can give.
const TOO_MUCH: usize = isize::MAX as usize;
/// Bytes of a stub, and of the words that it reads.
const STUB: usize = 32;
/// Bytes of the stubs of a program, two pages. The words of each lie as far behind it.
const STUBS: usize = 8192;

/// An allocating or freeing function, with as many arguments as any has.
type Real = unsafe extern "C-unwind" fn(usize, usize, usize, usize) -> usize;
/// A wrapper: the arguments, the function, and the limit.
type Wrapper =
    unsafe extern "C-unwind" fn(usize, usize, usize, usize, Real, *const HeapLimit) -> usize;

/// The limit of a program and what the program holds.
#[derive(Debug)]
pub struct HeapLimit {
    limit: usize,
    used: AtomicUsize,
    /// Bytes of each block by its start, without [`BLOCK`].
    blocks: [Mutex<HashMap<usize, usize>>; PARTS],
    stubs: Mutex<Stubs>,
}

/// The stubs of a program: executable pages, and writable ones behind them with the words that the
/// stubs read, so that no page is both.
#[derive(Debug)]
struct Stubs {
    code: *mut u8,
    /// Addresses by function and wrapper: several programs may share the limit.
    made: HashMap<(usize, usize), usize>,
}

// SAFETY: the pages belong to the stubs alone, which are behind a lock.
unsafe impl Send for Stubs {}

impl HeapLimit {
    /// Returns a limit of `bytes`. Its address is in the stubs, so it is shared rather than moved.
    ///
    /// # Errors
    /// Fails if the system refuses memory for the stubs, or to execute it.
    pub fn new(bytes: usize) -> Result<Arc<HeapLimit>, Error> {
        Ok(Arc::new(HeapLimit {
            limit: bytes,
            used: AtomicUsize::new(0),
            blocks: std::array::from_fn(|_| Mutex::default()),
            stubs: Mutex::new(Stubs::new()?),
        }))
    }

    /// Returns the bytes that the program holds now.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the address that the program calls in place of the function `name` at `address`;
    /// `None` for functions that neither allocate nor free.
    ///
    /// # Errors
    /// Fails if the program has used up its stubs, many more than there are such functions.
    pub fn wrapper_of(&self, name: &str, address: usize) -> Result<Option<usize>, Error> {
        let Some(wrapper) = wrapper(name) else {
            return Ok(None);
        };
        let limit = ptr::from_ref(self).expose_provenance();
        let mut stubs = fork_lock::lock(&self.stubs);
        let stub = stubs.stub([address, limit, wrapper as usize])?;
        Ok(Some(stub))
    }

    fn part(&self, block: usize) -> &Mutex<HashMap<usize, usize>> {
        &self.blocks[(block >> 4).wrapping_mul(0x9e37_79b9) % PARTS]
    }

    /// Counts bytes, unless they exceed the limit.
    fn reserve(&self, bytes: usize) -> bool {
        let sum = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        let order = Ordering::Relaxed;
        self.used.fetch_update(order, order, sum).is_ok()
    }

    fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Allocates a block of `size` bytes by `call`, which gets the size to ask for.
    fn allocate(&self, size: usize, call: impl FnOnce(usize) -> usize) -> usize {
        if !self.reserve(size.saturating_add(BLOCK)) {
            return call(TOO_MUCH);
        }
        /// Guard: takes the reservation back if the function fails, or throws.
        struct Reserved<'a>(&'a HeapLimit, usize);
        impl Drop for Reserved<'_> {
            fn drop(&mut self) {
                self.0.release(self.1);
            }
        }
        let reserved = Reserved(self, size + BLOCK);
        let block = call(size);
        if block != 0 {
            std::mem::forget(reserved);
            self.record(block, size);
        }
        block
    }

    /// Records a block. An entry that has its address is of a block that a library freed.
    fn record(&self, block: usize, size: usize) {
        let stale = fork_lock::lock(self.part(block)).insert(block, size);
        if let Some(size) = stale {
            self.release(size + BLOCK);
        }
    }

    /// Removes a block before it is freed, since another thread may get its address then. Returns
    /// its bytes.
    fn remove(&self, block: usize) -> Option<usize> {
        fork_lock::lock(self.part(block)).remove(&block)
    }

    /// Frees a block by `call`.
    fn free(&self, block: usize, call: impl FnOnce() -> usize) -> usize {
        if let Some(size) = self.remove(block) {
            self.release(size + BLOCK);
        }
        call()
    }

    /// Changes the size of a block by `call`, which gets the size to ask for.
    fn resize(&self, block: usize, size: usize, call: impl FnOnce(usize) -> usize) -> usize {
        if block == 0 {
            return self.allocate(size, call);
        }
        let old = self.remove(block);
        if old.is_none() && size > 0 {
            // A block of a library counts from now on.
            return self.allocate(size, call);
        }
        let had = old.unwrap_or(0);
        let more = size.saturating_sub(had);
        if !self.reserve(more) {
            self.record(block, had);
            return call(TOO_MUCH);
        }
        let moved = call(size);
        if moved != 0 {
            self.release(had.saturating_sub(size));
            self.record(moved, size);
        } else if size == 0 {
            self.release(old.map_or(0, |had| had + BLOCK));
        } else {
            self.release(more);
            self.record(block, had);
        }
        moved
    }
}

impl Stubs {
    fn new() -> Result<Stubs, Error> {
        let refused = || Error::Host("no memory for a program with a memory limit".into());
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, which replaces none.
        let pages = unsafe { libc::mmap(ptr::null_mut(), 2 * STUBS, access, flags, -1, 0) };
        if pages == libc::MAP_FAILED {
            return Err(refused());
        }
        // Owns the pages from here on.
        let stubs = Stubs {
            code: pages.cast(),
            made: HashMap::new(),
        };
        let code = stub_code();
        for number in 0..STUBS / STUB {
            // SAFETY: the stub lies in the first pages, which are writable until the next call.
            unsafe { ptr::copy_nonoverlapping(code.as_ptr(), stubs.code.add(number * STUB), STUB) };
        }
        // SAFETY: the first pages belong to the stubs.
        let failed = unsafe { libc::mprotect(pages, STUBS, libc::PROT_READ | libc::PROT_EXEC) };
        match failed {
            0 => Ok(stubs),
            _ => Err(refused()),
        }
    }

    /// Returns the address of the stub for a function, a limit and a wrapper.
    fn stub(&mut self, words: [usize; 3]) -> Result<usize, Error> {
        let key = (words[0], words[2]);
        if let Some(&stub) = self.made.get(&key) {
            return Ok(stub);
        }
        let offset = self.made.len() * STUB;
        if offset >= STUBS {
            let message = "too many allocating functions for a program with a memory limit";
            return Err(Error::Host(message.into()));
        }
        // SAFETY: the words lie in the second pages, which stay writable, and nothing calls their
        // stub yet.
        let stub = unsafe {
            let stub = self.code.add(offset);
            stub.add(STUBS).cast::<[usize; 3]>().write(words);
            stub.expose_provenance()
        };
        self.made.insert(key, stub);
        Ok(stub)
    }
}

impl Drop for Stubs {
    fn drop(&mut self) {
        // SAFETY: the program that called the stubs has ended.
        unsafe { libc::munmap(self.code.cast(), 2 * STUBS) };
    }
}

/// Returns code that loads the function and the limit from the stub's words into the registers of
/// the fifth and sixth argument, and jumps to the wrapper. It is the same for all stubs.
fn stub_code() -> [u8; STUB] {
    let mut code = [0xcc; STUB];
    // mov r8, [rip + ..]; mov r9, [rip + ..]; jmp [rip + ..]. Distances count from an
    // instruction's end.
    let instructions: [(&[u8], usize); 3] = [
        (&[0x4c, 0x8b, 0x05], 0),
        (&[0x4c, 0x8b, 0x0d], 1),
        (&[0xff, 0x25], 2),
    ];
    let mut at = 0;
    for (opcode, word) in instructions {
        let end = at + opcode.len() + 4;
        let distance = (STUBS + word * size_of::<usize>() - end) as u32;
        code[at..end - 4].copy_from_slice(opcode);
        code[end - 4..end].copy_from_slice(&distance.to_le_bytes());
        at = end;
    }
    code
}

/// Defines wrappers by the place of what they need among the arguments.
macro_rules! wrappers {
    ($($name:ident: |$limit:ident, $real:ident, $a:ident| $body:expr;)*) => { $(
        unsafe extern "C-unwind" fn $name(
            a: usize, b: usize, c: usize, d: usize, real: Real, limit: *const HeapLimit,
        ) -> usize {
            let $a = [a, b, c, d];
            // SAFETY: the limit lives as long as the program, which calls the wrapper.
            let $limit = unsafe { &*limit };
            // SAFETY: forwards the program's call, perhaps with a size that is too large.
            let $real = |args: [usize; 4]| unsafe { real(args[0], args[1], args[2], args[3]) };
            $body
        }
    )* };
}

/// Returns the arguments with another value at one place.
fn with(mut args: [usize; 4], at: usize, value: usize) -> [usize; 4] {
    args[at] = value;
    args
}

wrappers! {
    size_first: |limit, real, a| limit.allocate(a[0], |size| real(with(a, 0, size)));
    size_second: |limit, real, a| limit.allocate(a[1], |size| real(with(a, 1, size)));
    size_third: |limit, real, a| limit.allocate(a[2], |size| real(with(a, 2, size)));
    count_first: |limit, real, a| limit.allocate(a[0].saturating_mul(a[1]), |size| {
        real(if size == TOO_MUCH { with(with(a, 0, 1), 1, size) } else { a })
    });
    count_second: |limit, real, a| limit.allocate(a[1].saturating_mul(a[2]), |size| {
        real(if size == TOO_MUCH { with(with(a, 1, 1), 2, size) } else { a })
    });
    block_first: |limit, real, a| limit.free(a[0], || real(a));
    block_second: |limit, real, a| limit.free(a[1], || real(a));
    resize_second: |limit, real, a| limit.resize(a[0], a[1], |size| real(with(a, 1, size)));
    resize_count: |limit, real, a| limit.resize(a[0], a[1].saturating_mul(a[2]), |size| {
        real(if size == TOO_MUCH { with(with(a, 1, 1), 2, size) } else { a })
    });
    posix: |limit, real, a| {
        let mut result = 0;
        limit.allocate(a[2], |size| {
            result = real(with(a, 2, size));
            match result & 0xffff_ffff {
                // SAFETY: the function succeeded, so it wrote the block's address.
                0 => unsafe { *ptr::with_exposed_provenance::<usize>(a[0]) },
                _ => 0,
            }
        });
        result
    };
}

/// The OpenMP runtime's functions that allocate or free, apart from those of Fortran, which take
/// addresses of arguments.
pub const RUNTIME_FUNCTIONS: &[&str] = &[
    "omp_alloc",
    "omp_aligned_alloc",
    "omp_calloc",
    "omp_aligned_calloc",
    "omp_realloc",
    "omp_free",
    "kmp_malloc",
    "kmp_aligned_malloc",
    "kmp_calloc",
    "kmp_realloc",
    "kmp_free",
    "kmpc_malloc",
    "kmpc_aligned_malloc",
    "kmpc_calloc",
    "kmpc_realloc",
    "kmpc_free",
    "__kmpc_alloc",
    "__kmpc_aligned_alloc",
    "__kmpc_calloc",
    "__kmpc_free",
];

/// Returns the wrapper of a function that allocates or frees.
fn wrapper(name: &str) -> Option<Wrapper> {
    Some(match name {
        "malloc"
        | "valloc"
        | "pvalloc"
        | "omp_alloc"
        | "kmp_malloc"
        | "kmpc_malloc"
        | "kmp_aligned_malloc"
        | "kmpc_aligned_malloc" => size_first,
        "aligned_alloc" | "memalign" | "omp_aligned_alloc" | "__kmpc_alloc" => size_second,
        "__kmpc_aligned_alloc" => size_third,
        "calloc" | "omp_calloc" | "kmp_calloc" | "kmpc_calloc" => count_first,
        "omp_aligned_calloc" | "__kmpc_calloc" => count_second,
        "realloc" | "omp_realloc" | "kmp_realloc" | "kmpc_realloc" => resize_second,
        "reallocarray" => resize_count,
        "posix_memalign" => posix,
        "free" | "cfree" | "omp_free" | "kmp_free" | "kmpc_free" => block_first,
        "__kmpc_free" => block_second,
        _ if name.starts_with("_Znwm") || name.starts_with("_Znam") => size_first,
        _ if name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv") => block_first,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(limit: &HeapLimit, name: &str, address: usize) -> Real {
        let stub = limit.wrapper_of(name, address).unwrap().unwrap();
        // SAFETY: stubs take at most four arguments.
        unsafe { std::mem::transmute::<usize, Real>(stub) }
    }

    #[test]
    fn blocks_count_until_they_are_freed() {
        let limit = HeapLimit::new(1000).unwrap();
        let malloc = bound(&limit, "malloc", libc::malloc as *const () as usize);
        let calloc = bound(&limit, "calloc", libc::calloc as *const () as usize);
        let realloc = bound(&limit, "realloc", libc::realloc as *const () as usize);
        let free = bound(&limit, "free", libc::free as *const () as usize);
        // SAFETY: calls as of the C library's functions.
        unsafe {
            let block = malloc(500, 0, 0, 0);
            assert!(block != 0);
            assert_eq!(limit.used(), 500 + BLOCK);
            assert_eq!(malloc(500, 0, 0, 0), 0);
            assert_eq!(*libc::__errno_location(), libc::ENOMEM);
            assert_eq!(calloc(5, 100, 0, 0), 0);
            assert_eq!(calloc(usize::MAX, 2, 0, 0), 0);
            assert_eq!(realloc(block, 2000, 0, 0), 0);
            assert_eq!(limit.used(), 500 + BLOCK, "the block stays");
            let block = realloc(block, 900, 0, 0);
            assert!(block != 0);
            assert_eq!(limit.used(), 900 + BLOCK);
            let block = realloc(block, 100, 0, 0);
            assert_eq!(limit.used(), 100 + BLOCK);
            free(block, 0, 0, 0);
            assert_eq!(limit.used(), 0);
            free(libc::malloc(100) as usize, 0, 0, 0);
            assert_eq!(limit.used(), 0, "not counted, since a library allocated it");
        }
    }

    #[test]
    fn results_are_those_of_each_function() {
        let limit = HeapLimit::new(10_000).unwrap();
        let real = libc::posix_memalign as *const () as usize;
        let posix_memalign = bound(&limit, "posix_memalign", real);
        let mut block = 0usize;
        let out = (&raw mut block).expose_provenance();
        // SAFETY: calls as of the C library's function.
        unsafe {
            assert_eq!(posix_memalign(out, 64, 100, 0) as i32, 0);
            assert!(block != 0 && block.is_multiple_of(64));
            assert_eq!(limit.used(), 100 + BLOCK);
            assert_eq!(posix_memalign(out, 64, 20_000, 0) as i32, libc::ENOMEM);
            assert_eq!(limit.used(), 100 + BLOCK);
        }
        assert_eq!(limit.wrapper_of("strlen", 1).unwrap(), None);
        assert!(RUNTIME_FUNCTIONS.iter().all(|name| wrapper(name).is_some()));
    }
}
