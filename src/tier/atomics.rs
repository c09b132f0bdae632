//! The functions of libatomic, for machines on which it is not installed: operations of any size,
//! and those named by size.
//!
//! Aligned operations of 1, 2, 4, 8 and 16 bytes (`cmpxchg16b`) use the processor's instructions,
//! so they agree with inline atomics. All others take a lock chosen by address. Orderings are
//! ignored: every operation is sequentially consistent.
//!
//! A libatomic that is loaded later does not know these locks, so [`super::libraries`] prefers an
//! installed one.

use super::registry::REGISTRY;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

/// Locks by address, in a cache line of their own.
#[repr(align(64))]
pub(super) struct Locks([AtomicBool; 64]);

impl Locks {
    /// Returns free locks.
    pub(super) const fn new() -> Locks {
        Locks([const { AtomicBool::new(false) }; 64])
    }
}

struct Locked(&'static AtomicBool);

impl Locked {
    fn new(address: *const u8) -> Locked {
        let Locks(locks) = &REGISTRY.atomic_locks;
        let lock = &locks[(address as usize >> 4) % locks.len()];
        while lock.swap(true, SeqCst) {
            std::thread::yield_now();
        }
        Locked(lock)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.0.store(false, SeqCst);
    }
}

fn inline(size: usize, address: *const u8) -> bool {
    matches!(size, 1 | 2 | 4 | 8 | 16) && (address as usize).is_multiple_of(size)
}

/// Performs `cmpxchg16b` in assembly, because the intrinsic becomes a call of libatomic when it is
/// not inlined. Inline assembly cannot name rbx, which the instruction uses, so it is swapped in
/// and out.
///
/// # Safety
/// `p` must be valid and aligned to 16 bytes, and the processor must have the instruction (every
/// x86-64 Linux machine since 2006; LLVM's own baseline for 16-byte atomics).
unsafe fn cas16(p: *mut u128, old: u128, new: u128) -> u128 {
    let (mut low, mut high) = (old as u64, (old >> 64) as u64);
    // SAFETY: `p` is valid and aligned by this function's contract, and rbx is restored.
    unsafe {
        std::arch::asm!(
            "xchg {new_low}, rbx",
            "lock cmpxchg16b xmmword ptr [{p}]",
            "mov rbx, {new_low}",
            new_low = inout(reg) new as u64 => _,
            p = in(reg) p,
            inout("rax") low,
            inout("rdx") high,
            in("rcx") (new >> 64) as u64,
            options(nostack),
        );
    }
    u128::from(low) | (u128::from(high) << 64)
}

/// Compares and exchanges 1 to 16 bytes by instruction. Returns the value found.
///
/// # Safety
/// `size` must be 1, 2, 4, 8 or 16, and `p` must be valid for it and aligned to it.
unsafe fn cas(size: usize, p: *mut u8, old: u128, new: u128) -> u128 {
    macro_rules! step {
        ($a:ty, $t:ty) => {{
            // SAFETY: `p` is aligned and valid by this function's contract.
            let cell = unsafe { <$a>::from_ptr(p.cast()) };
            let (Ok(v) | Err(v)) = cell.compare_exchange(old as $t, new as $t, SeqCst, SeqCst);
            u128::from(v)
        }};
    }
    match size {
        1 => step!(AtomicU8, u8),
        2 => step!(AtomicU16, u16),
        4 => step!(AtomicU32, u32),
        8 => step!(AtomicU64, u64),
        // SAFETY: `p` is aligned and valid for 16 bytes by this function's contract.
        _ => unsafe { cas16(p.cast(), old, new) },
    }
}

/// # Safety
/// `p` must be valid for reads of `size` bytes, at most 16.
unsafe fn get(size: usize, p: *const u8) -> u128 {
    let mut v = 0u128;
    // SAFETY: `p` is valid for `size` bytes by this function's contract, and `v` has 16.
    unsafe { ptr::copy_nonoverlapping(p, (&raw mut v).cast(), size) };
    v
}

/// # Safety
/// `p` must be valid for writes of `size` bytes, at most 16.
unsafe fn put(size: usize, p: *mut u8, v: u128) {
    // SAFETY: `p` is valid for `size` bytes by this function's contract, and `v` has 16.
    unsafe { ptr::copy_nonoverlapping((&raw const v).cast(), p, size) };
}

/// Replaces a value by `f` of it, atomically. Returns the old value.
///
/// # Safety
/// As for [`cas`].
unsafe fn update(size: usize, p: *mut u8, f: impl Fn(u128) -> u128) -> u128 {
    // Any first guess is right: a failed exchange returns the true value.
    let mut old = 0;
    loop {
        // SAFETY: the contracts of this function and `cas` are the same.
        let found = unsafe { cas(size, p, old, f(old)) };
        if found == old {
            return old;
        }
        old = found;
    }
}

unsafe extern "C" fn load(size: usize, from: *mut u8, out: *mut u8, _order: i32) {
    // SAFETY: the guest passes valid pointers for `size` bytes, as to the native function; `inline`
    // checks the alignment.
    unsafe {
        if inline(size, from) {
            let v = update(size, from, |v| v);
            put(size, out, v);
        } else {
            let _lock = Locked::new(from);
            ptr::copy(from, out, size);
        }
    }
}

unsafe extern "C" fn store(size: usize, to: *mut u8, from: *const u8, _order: i32) {
    // SAFETY: the guest passes valid pointers for `size` bytes, as to the native function; `inline`
    // checks the alignment.
    unsafe {
        if inline(size, to) {
            let v = get(size, from);
            update(size, to, |_| v);
        } else {
            let _lock = Locked::new(to);
            ptr::copy(from, to, size);
        }
    }
}

unsafe extern "C" fn exchange(size: usize, at: *mut u8, from: *const u8, out: *mut u8, _: i32) {
    // SAFETY: the guest passes valid pointers for `size` bytes, as to the native function; `inline`
    // checks the alignment.
    unsafe {
        if inline(size, at) {
            let v = get(size, from);
            let old = update(size, at, |_| v);
            put(size, out, old);
        } else {
            let _lock = Locked::new(at);
            ptr::copy(at, out, size);
            ptr::copy(from, at, size);
        }
    }
}

unsafe extern "C" fn compare_exchange(
    size: usize,
    at: *mut u8,
    expected: *mut u8,
    desired: *const u8,
    _success: i32,
    _failure: i32,
) -> bool {
    // SAFETY: the guest passes valid pointers for `size` bytes, as to the native function; `inline`
    // checks the alignment.
    unsafe {
        if inline(size, at) {
            let old = get(size, expected);
            let found = cas(size, at, old, get(size, desired));
            if found != old {
                put(size, expected, found);
            }
            return found == old;
        }
        let _lock = Locked::new(at);
        let equal = (0..size).all(|i| *at.add(i) == *expected.add(i));
        if equal {
            ptr::copy(desired, at, size);
        } else {
            ptr::copy(at, expected, size);
        }
        equal
    }
}

extern "C" fn is_lock_free(size: usize, at: *const u8) -> bool {
    inline(size, at)
}

macro_rules! sized {
    ($size:literal, $t:ty, $module:ident) => {
        mod $module {
            type T = $t;
            const SIZE: usize = $size;
            pub unsafe extern "C" fn load(at: *mut u8, _: i32) -> T {
                // SAFETY: the guest passes a valid pointer; libatomic's interface requires
                // alignment for sized operations.
                unsafe { super::update(SIZE, at, |v| v) as T }
            }
            pub unsafe extern "C" fn store(at: *mut u8, v: T, _: i32) {
                // SAFETY: the guest passes a valid pointer; libatomic's interface requires
                // alignment for sized operations.
                unsafe { super::update(SIZE, at, |_| v as u128) };
            }
            pub unsafe extern "C" fn exchange(at: *mut u8, v: T, _: i32) -> T {
                // SAFETY: the guest passes a valid pointer; libatomic's interface requires
                // alignment for sized operations.
                unsafe { super::update(SIZE, at, |_| v as u128) as T }
            }
            pub unsafe extern "C" fn compare_exchange(
                at: *mut u8,
                expected: *mut u8,
                v: T,
                s: i32,
                f: i32,
            ) -> bool {
                // SAFETY: the guest passes valid pointers; libatomic's interface requires alignment
                // for sized operations.
                unsafe {
                    super::compare_exchange(SIZE, at, expected, (&raw const v).cast(), s, f)
                }
            }
            sized!(@fetch add, a, b, a.wrapping_add(b));
            sized!(@fetch sub, a, b, a.wrapping_sub(b));
            sized!(@fetch and, a, b, a & b);
            sized!(@fetch or, a, b, a | b);
            sized!(@fetch xor, a, b, a ^ b);
            sized!(@fetch nand, a, b, !(a & b));
            pub fn address(operation: &str) -> Option<usize> {
                Some(match operation {
                    "load" => load as *const () as usize,
                    "store" => store as *const () as usize,
                    "exchange" => exchange as *const () as usize,
                    "compare_exchange" => compare_exchange as *const () as usize,
                    "fetch_add" => add as *const () as usize,
                    "fetch_sub" => sub as *const () as usize,
                    "fetch_and" => and as *const () as usize,
                    "fetch_or" => or as *const () as usize,
                    "fetch_xor" => xor as *const () as usize,
                    "fetch_nand" => nand as *const () as usize,
                    _ => return None,
                })
            }
        }
    };
    (@fetch $name:ident, $a:ident, $b:ident, $e:expr) => {
        pub unsafe extern "C" fn $name(at: *mut u8, $b: T, _: i32) -> T {
            // SAFETY: the guest passes a valid pointer; libatomic's interface requires alignment
            // for sized operations.
            unsafe {
                super::update(SIZE, at, |old| {
                    let $a = old as T;
                    ($e) as u128
                }) as T
            }
        }
    };
}
sized!(1, u8, one);
sized!(2, u16, two);
sized!(4, u32, four);
sized!(8, u64, eight);
sized!(16, u128, sixteen);

/// Returns the address of a function of libatomic's interface.
pub fn address(name: &str) -> Option<usize> {
    let name = name.strip_prefix("__atomic_")?;
    match name {
        "load" => return Some(load as *const () as usize),
        "store" => return Some(store as *const () as usize),
        "exchange" => return Some(exchange as *const () as usize),
        "compare_exchange" => return Some(compare_exchange as *const () as usize),
        "is_lock_free" => return Some(is_lock_free as *const () as usize),
        _ => {}
    }
    let (operation, size) = name.rsplit_once('_')?;
    match size {
        "1" => one::address(operation),
        "2" => two::address(operation),
        "4" => four::address(operation),
        "8" => eight::address(operation),
        "16" => sixteen::address(operation),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_loads_stores_and_exchanges() {
        for size in 1..=32usize {
            let mut cell = [1u64, 2, 3, 4];
            let (mut out, mut new) = ([0u64; 4], [5u64, 6, 7, 8]);
            let before = cell;
            let bytes = |a: &[u64; 4]| a.map(u64::to_ne_bytes).concat()[..size].to_vec();
            let p = |a: &mut [u64; 4]| a.as_mut_ptr().cast::<u8>();
            // SAFETY: every buffer has 32 bytes, at least `size`.
            unsafe {
                exchange(size, p(&mut cell), p(&mut new), p(&mut out), 5);
                assert_eq!((bytes(&out), bytes(&cell)), (bytes(&before), bytes(&new)));
                let mut expected = before;
                let done =
                    compare_exchange(size, p(&mut cell), p(&mut expected), p(&mut out), 5, 5);
                assert!(!done);
                assert_eq!(bytes(&expected), bytes(&new));
                assert!(compare_exchange(
                    size,
                    p(&mut cell),
                    p(&mut expected),
                    p(&mut out),
                    5,
                    5
                ));
                load(size, p(&mut cell), p(&mut new), 5);
                assert_eq!(bytes(&new), bytes(&before));
            }
        }
        assert!(address("__atomic_fetch_add_16").is_some());
        assert!(address("__atomic_fetch_add_3").is_none());
    }
}
