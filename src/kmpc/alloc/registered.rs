//! Blocks beyond `malloc`'s: those of pools, pinned ones, and those placed on NUMA nodes.
//!
//! A table registers the blocks by address, so that the routines that free them need no header in
//! front of a block. While it is empty, no thread takes its lock. Pinned and placed blocks have
//! pages of their own. If pages cannot be pinned, the allocation fails (the allocator's fallback
//! follows); placement is a preference that the system may ignore.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use crossbeam::utils::CachePadded;

use super::traits::Partition;
use super::{Allocator, plain};
use crate::runtime::RUNTIME;
use ompvm_support::machine;
use ompvm_support::sync::{self, Mutex, MutexGuard};

/// Bytes in use of a pool.
pub type Used = AtomicUsize;

/// Bytes that the table entry of a block counts in its pool.
const ENTRY_COST: usize = 64;

/// A registered block.
pub struct Block {
    size: usize,
    /// Bytes that the block counts in the pool.
    charge: usize,
    /// Start and length of its own pages, if it has any.
    pages: Option<(usize, usize)>,
    allocator: Arc<Allocator>,
}

/// Blocks by address.
pub type Table = HashMap<usize, Block>;

/// The registered blocks of a process.
pub(super) struct Blocks {
    table: CachePadded<LazyLock<Mutex<Table>>>,
    /// Number of blocks in the table.
    count: AtomicUsize,
    /// The NUMA nodes that have memory.
    nodes: OnceLock<Vec<usize>>,
}

impl Blocks {
    /// Returns an empty table.
    pub(super) const fn new() -> Blocks {
        Blocks {
            table: CachePadded::new(LazyLock::new(Mutex::default)),
            count: AtomicUsize::new(0),
            nodes: OnceLock::new(),
        }
    }
}

/// Returns the blocks of this process.
fn registered() -> &'static Blocks {
    &RUNTIME.allocators.blocks
}

/// Locks the table, also for the time in which the process forks.
pub fn lock_blocks() -> MutexGuard<'static, Table> {
    sync::lock(&registered().table)
}

/// Allocates a block of an allocator that
/// [`needs_registration`](super::traits::Traits::needs_registration); null if it has no memory.
pub fn allocate(allocator: &Arc<Allocator>, align: usize, size: usize, zero: bool) -> *mut c_void {
    let traits = &allocator.traits;
    let charge = size.saturating_add(ENTRY_COST);
    if let Some(pool) = traits.pool {
        let taken = allocator
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(charge).filter(|&sum| sum <= pool)
            });
        if taken.is_err() {
            return std::ptr::null_mut();
        }
    }
    let (block, pages) = if traits.pinned || traits.partition != Partition::Environment {
        match map(align, size, traits.pinned, traits.partition) {
            Some((block, pages)) => (block, Some(pages)),
            None => (std::ptr::null_mut(), None),
        }
    } else {
        (plain(align, size, zero), None)
    };
    if block.is_null() {
        if traits.pool.is_some() {
            allocator.used.fetch_sub(charge, Ordering::Relaxed);
        }
        return block;
    }
    let mut blocks = lock_blocks();
    blocks.insert(
        block.addr(),
        Block {
            size,
            charge,
            pages,
            allocator: allocator.clone(),
        },
    );
    registered().count.store(blocks.len(), Ordering::Relaxed);
    block
}

/// Returns the size of a registered block.
pub fn size_of(block: *mut c_void) -> Option<usize> {
    // Relaxed: a thread with a registered block received it after the count was written.
    if registered().count.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let blocks = lock_blocks();
    blocks.get(&block.addr()).map(|b| b.size)
}

/// Frees a block if it is registered. Returns false if it is not.
///
/// # Safety
/// The block is not used any more.
pub unsafe fn free(block: *mut c_void) -> bool {
    // Relaxed: as in `size_of`.
    if registered().count.load(Ordering::Relaxed) == 0 {
        return false;
    }
    let mut blocks = lock_blocks();
    let Some(known) = blocks.remove(&block.addr()) else {
        return false;
    };
    registered().count.store(blocks.len(), Ordering::Relaxed);
    drop(blocks);
    // SAFETY: the block's own pages or `malloc`'s block, not used any more (caller's contract).
    unsafe {
        match known.pages {
            Some((start, length)) => {
                libc::munmap(std::ptr::with_exposed_provenance_mut(start), length);
            }
            None => libc::free(block),
        }
    }
    if known.allocator.traits.pool.is_some() {
        known
            .allocator
            .used
            .fetch_sub(known.charge, Ordering::Relaxed);
    }
    true
}

/// Maps pages of its own for a block, which are zero.
fn map(
    align: usize,
    size: usize,
    pinned: bool,
    partition: Partition,
) -> Option<(*mut c_void, (usize, usize))> {
    let page = 4096;
    let slack = if align > page { align } else { 0 };
    let length = size.checked_next_multiple_of(page)?.checked_add(slack)?;
    // SAFETY: maps new pages at an address that the system chooses.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return None;
    }
    let block = start.map_addr(|a| a.next_multiple_of(align.max(1)));
    set_numa_policy(start, length, partition);
    // SAFETY: the pages mapped above, unmapped again if they cannot be pinned.
    unsafe {
        if pinned && libc::mlock(start, length) != 0 {
            libc::munmap(start, length);
            return None;
        }
    }
    Some((block, (start.expose_provenance(), length)))
}

/// Returns the NUMA nodes that have memory.
fn nodes() -> &'static [usize] {
    registered().nodes.get_or_init(|| {
        let text = std::fs::read_to_string("/sys/devices/system/node/has_memory");
        let nodes = text
            .ok()
            .and_then(|t| machine::parse_cpu_list(&t))
            .unwrap_or_default();
        nodes.into_iter().filter(|&n| n < 64).collect()
    })
}

/// Sets the NUMA policy of pages.
fn set_numa_policy(start: *mut c_void, length: usize, partition: Partition) {
    const PREFERRED: i64 = 1;
    const INTERLEAVE: i64 = 3;
    const LOCAL: i64 = 4;
    let nodes = nodes();
    if nodes.len() < 2 {
        return;
    }
    let prefer = |start: *mut c_void, length: usize, mode: i64, mask: u64| {
        let words = if mask == 0 {
            std::ptr::null()
        } else {
            &raw const mask
        };
        let bits = if mask == 0 { 0 } else { 65 };
        // SAFETY: pages of this block, and a live mask of 64 bits. Failure is expected and ignored.
        unsafe { libc::syscall(libc::SYS_mbind, start, length, mode, words, bits, 0) };
    };
    match partition {
        Partition::Environment => {}
        Partition::Nearest => {
            let (mut cpu, mut node) = (0u32, 0u32);
            // SAFETY: two live numbers and a null pointer.
            let rc = unsafe {
                libc::syscall(
                    libc::SYS_getcpu,
                    &raw mut cpu,
                    &raw mut node,
                    std::ptr::null::<c_void>(),
                )
            };
            match rc {
                0 if node < 64 => prefer(start, length, PREFERRED, 1 << node),
                _ => prefer(start, length, LOCAL, 0),
            }
        }
        Partition::Interleaved => {
            let all = nodes.iter().fold(0, |mask, n| mask | 1 << n);
            prefer(start, length, INTERLEAVE, all);
        }
        Partition::Blocked => {
            let pages = length / 4096;
            for (i, node) in nodes.iter().enumerate() {
                let (from, to) = (pages * i / nodes.len(), pages * (i + 1) / nodes.len());
                if to > from {
                    let part = start.map_addr(|a| a + from * 4096);
                    prefer(part, (to - from) * 4096, PREFERRED, 1 << node);
                }
            }
        }
    }
}
