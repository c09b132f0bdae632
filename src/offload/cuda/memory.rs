//! A caching allocator for device memory.
//!
//! The driver's `cuMemFree` synchronizes the whole device, and regions map and unmap the same sizes
//! again and again. So freed blocks of up to [`KEPT`] bytes are cached by size. They are returned
//! to the driver when the device runs out of memory.

use super::gpu::Gpu;
use crate::device::{Failure, Fault, MemoryKind, Result};
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Alignment of the driver's addresses.
const ALIGN: u64 = 256;
/// Maximum size of a cached block.
const KEPT: u64 = 256 << 20;
/// Maximum total size of cached blocks.
const KEPT_TOGETHER: u64 = 2 << 30;

/// The allocated and cached blocks.
#[derive(Debug, Default)]
struct Pieces {
    /// Blocks in use, by the address that was handed out.
    used: BTreeMap<u64, Piece>,
    /// Cached device memory, by size.
    kept: HashMap<u64, Vec<u64>>,
    kept_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Address that the driver returned.
    start: u64,
    size: u64,
    memory: MemoryKind,
}

/// The memory allocator of one GPU.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Pieces>);

impl Pool {
    pub(super) fn alloc(
        &self,
        gpu: &Gpu,
        size: u64,
        align: u64,
        memory: MemoryKind,
    ) -> Result<u64> {
        let extra = if align > ALIGN { align } else { 0 };
        let rounded = size
            .max(1)
            .checked_add(extra)
            .and_then(|s| s.checked_next_multiple_of(ALIGN));
        let Some(rounded) = rounded else {
            return Err(Failure::OutOfMemory { size });
        };
        let kept = (memory == MemoryKind::Device)
            .then(|| self.0.lock().take(rounded))
            .flatten();
        let start = match kept {
            Some(start) => start,
            None => match gpu.raw_alloc(rounded, memory) {
                Err(Failure::OutOfMemory { .. }) if self.drain(gpu)? => {
                    gpu.raw_alloc(rounded, memory)
                }
                result => result,
            }
            .map_err(|failure| match failure {
                Failure::OutOfMemory { .. } => Failure::OutOfMemory { size },
                other => other,
            })?,
        };
        let address = if extra > 0 {
            start.next_multiple_of(align)
        } else {
            start
        };
        let piece = Piece {
            start,
            size: rounded,
            memory,
        };
        self.0.lock().used.insert(address, piece);
        Ok(address)
    }

    pub(super) fn free(&self, gpu: &Gpu, address: u64, memory: MemoryKind) -> Result<()> {
        let piece = {
            let mut pieces = self.0.lock();
            match pieces.used.get(&address) {
                Some(piece) if piece.memory == memory => {
                    let piece = *piece;
                    pieces.used.remove(&address);
                    if memory == MemoryKind::Device && pieces.keep(piece) {
                        return Ok(());
                    }
                    piece
                }
                _ => {
                    return Err(Failure::Fault(Box::new(Fault {
                        what: format!("{address:#x} is given back, which is not allocated"),
                        place: None,
                        thread: None,
                        help: None,
                    })));
                }
            }
        };
        gpu.raw_free(piece.start, memory)
    }

    pub(super) fn owns(&self, address: u64) -> bool {
        let pieces = self.0.lock();
        let before = pieces.used.range(..=address).next_back();
        before.is_some_and(|(&start, piece)| address - start < piece.size)
    }

    /// Returns all cached blocks to the driver. Returns true if there were any.
    fn drain(&self, gpu: &Gpu) -> Result<bool> {
        let kept = {
            let mut pieces = self.0.lock();
            pieces.kept_bytes = 0;
            std::mem::take(&mut pieces.kept)
        };
        let any = !kept.is_empty();
        for start in kept.into_values().flatten() {
            gpu.raw_free(start, MemoryKind::Device)?;
        }
        Ok(any)
    }
}

impl Pieces {
    fn take(&mut self, size: u64) -> Option<u64> {
        let list = self.kept.get_mut(&size)?;
        let start = list.pop()?;
        if list.is_empty() {
            self.kept.remove(&size);
        }
        self.kept_bytes -= size;
        Some(start)
    }

    fn keep(&mut self, piece: Piece) -> bool {
        if piece.size > KEPT || self.kept_bytes + piece.size > KEPT_TOGETHER {
            return false;
        }
        self.kept.entry(piece.size).or_default().push(piece.start);
        self.kept_bytes += piece.size;
        true
    }
}
