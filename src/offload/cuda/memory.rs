//! A caching allocator for device memory.
//!
//! The driver's `cuMemFree` synchronizes the whole device, and regions map and unmap the same sizes
//! again and again. So freed blocks of up to [`MAX_CACHED_BLOCK`] bytes are cached by size, and small
//! ones of host memory, too. They are returned to the driver when the device runs out of memory.
//!
//! A mapped array for which the device has too little memory is managed memory, a part of which is
//! on the host. Programs see `omp_target_alloc` fail as natively.

use super::gpu::Gpu;
use super::paged;
use crate::device::{Failure, Fault, MemoryKind, Result};
use crate::report;
use hashbrown::HashMap;
use ompvm_support::log;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Alignment of the driver's addresses.
const ALIGN: u64 = 256;
/// Maximum size of a cached block.
const MAX_CACHED_BLOCK: u64 = 256 << 20;
/// The same for host memory that the device accesses.
const MAX_CACHED_HOST_BLOCK: u64 = 4 << 10;
/// Maximum total size of cached blocks.
const MAX_CACHED_TOTAL: u64 = 2 << 30;

/// The allocated and cached blocks.
#[derive(Debug, Default)]
struct Blocks {
    /// Blocks in use, by the address that was handed out.
    used: BTreeMap<u64, Block>,
    /// Cached memory, by kind and size.
    cached: HashMap<(MemoryKind, u64), Vec<u64>>,
    cached_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    /// Address that the driver returned.
    start: u64,
    size: u64,
    memory: MemoryKind,
    /// For device memory of which a part is on the host: the number of bytes before that part.
    here: Option<u64>,
}

/// The memory allocator of one GPU.
#[derive(Debug, Default)]
pub(super) struct Pool {
    blocks: Mutex<Blocks>,
    /// True once a part of a block was on the host.
    pages: AtomicBool,
}

impl Pool {
    /// Allocates memory; see [`Device::alloc`](crate::device::Device::alloc).
    pub(super) fn alloc(
        &self,
        gpu: &Gpu,
        size: u64,
        align: u64,
        memory: MemoryKind,
    ) -> Result<u64> {
        self.alloc_block(size, align, memory, |rounded| {
            let cached = self.blocks.lock().take_cached(memory, rounded);
            let start = match cached {
                Some(start) => start,
                None => match gpu.raw_alloc(rounded, memory) {
                    Err(Failure::OutOfMemory { .. }) if self.release_cached(gpu)? => {
                        gpu.raw_alloc(rounded, memory)?
                    }
                    result => result?,
                },
            };
            Ok((start, None))
        })
    }

    /// Allocates device memory; if the GPU has too little, a part of it on the host.
    pub(super) fn alloc_paged(&self, gpu: &Gpu, size: u64, align: u64) -> Result<u64> {
        let answer = self.alloc(gpu, size, align, MemoryKind::Device);
        if !matches!(answer, Err(Failure::OutOfMemory { .. })) {
            return answer;
        }
        let block = self.alloc_block(size, align, MemoryKind::Device, |rounded| {
            let paged = paged::alloc(gpu, rounded)?;
            Ok((paged.start, Some(paged.here)))
        })?;
        self.pages.store(true, Ordering::Relaxed);
        report::note("arrays beyond a GPU's memory are on the host, where the GPU accesses them");
        tracing::info!(target: log::OFFLOAD, bytes = size, "allocated paged memory");
        Ok(block)
    }

    /// Allocates a block, of which `make` returns the start and [`Block::here`].
    fn alloc_block(
        &self,
        size: u64,
        align: u64,
        memory: MemoryKind,
        make: impl FnOnce(u64) -> Result<(u64, Option<u64>)>,
    ) -> Result<u64> {
        let extra = if align > ALIGN { align } else { 0 };
        let rounded = size
            .max(1)
            .checked_add(extra)
            .and_then(|s| s.checked_next_multiple_of(ALIGN));
        let Some(rounded) = rounded else {
            return Err(Failure::OutOfMemory { size });
        };
        let (start, here) = make(rounded).map_err(|failure| match failure {
            Failure::OutOfMemory { .. } => Failure::OutOfMemory { size },
            other => other,
        })?;
        let address = if extra > 0 {
            start.next_multiple_of(align)
        } else {
            start
        };
        let block = Block {
            start,
            size: rounded,
            memory,
            here,
        };
        self.blocks.lock().used.insert(address, block);
        Ok(address)
    }

    pub(super) fn free(&self, gpu: &Gpu, address: u64, memory: MemoryKind) -> Result<()> {
        let block = {
            let mut blocks = self.blocks.lock();
            match blocks.used.get(&address) {
                Some(block) if block.memory == memory => {
                    let block = *block;
                    blocks.used.remove(&address);
                    if blocks.cache(block) {
                        return Ok(());
                    }
                    block
                }
                _ => {
                    return Err(Failure::Fault(Box::new(Fault {
                        what: format!("the freed address {address:#x} is not allocated"),
                        place: None,
                        thread: None,
                        help: None,
                    })));
                }
            }
        };
        gpu.raw_free(block.start, memory)
    }

    /// Returns the number of bytes of a range before the part that is on the host: all, but for
    /// arrays beyond the GPU's memory.
    #[inline]
    pub(super) fn bytes_here(&self, address: u64, len: usize) -> usize {
        if !self.pages.load(Ordering::Relaxed) {
            return len;
        }
        let blocks = self.blocks.lock();
        let Some((_, block)) = blocks.used.range(..=address).next_back() else {
            return len;
        };
        match block.here {
            Some(here) if address - block.start < block.size => {
                let end = block.start + here;
                len.min(end.saturating_sub(address) as usize)
            }
            _ => len,
        }
    }

    pub(super) fn owns(&self, address: u64) -> bool {
        let blocks = self.blocks.lock();
        let before = blocks.used.range(..=address).next_back();
        before.is_some_and(|(&start, block)| address - start < block.size)
    }

    /// Returns the start of the driver's allocation that contains an address of device memory.
    /// Memory of which a part is on the host cannot be shared with other processes.
    pub(super) fn allocation(&self, address: u64) -> Option<u64> {
        let blocks = self.blocks.lock();
        let (_, block) = blocks.used.range(..=address).next_back()?;
        let inside = address - block.start < block.size;
        (inside && block.memory == MemoryKind::Device && block.here.is_none())
            .then_some(block.start)
    }

    /// Returns all cached blocks to the driver. Returns true if there were any.
    fn release_cached(&self, gpu: &Gpu) -> Result<bool> {
        let cached = {
            let mut blocks = self.blocks.lock();
            blocks.cached_bytes = 0;
            std::mem::take(&mut blocks.cached)
        };
        let any = !cached.is_empty();
        for ((memory, _), starts) in cached {
            for start in starts {
                gpu.raw_free(start, memory)?;
            }
        }
        Ok(any)
    }
}

impl Blocks {
    fn take_cached(&mut self, memory: MemoryKind, size: u64) -> Option<u64> {
        let key = (memory, size);
        let list = self.cached.get_mut(&key)?;
        let start = list.pop()?;
        if list.is_empty() {
            self.cached.remove(&key);
        }
        self.cached_bytes -= size;
        Some(start)
    }

    fn cache(&mut self, block: Block) -> bool {
        let most = match block.memory {
            MemoryKind::Device => MAX_CACHED_BLOCK,
            MemoryKind::Host => MAX_CACHED_HOST_BLOCK,
            MemoryKind::Shared => 0,
        };
        if block.here.is_some()
            || block.size > most
            || self.cached_bytes + block.size > MAX_CACHED_TOTAL
        {
            return false;
        }
        let key = (block.memory, block.size);
        self.cached.entry(key).or_default().push(block.start);
        self.cached_bytes += block.size;
        true
    }
}
