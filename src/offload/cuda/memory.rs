//! Device memory: what was allocated, and what is kept for the next.
//!
//! Why kept: the driver's `cuMemFree` waits for the whole device, and a region maps and unmaps the same
//! sizes again and again. What is given back up to [`KEPT`] bytes stays here by size; when the
//! device has no memory left, all of that goes back first.

use super::gpu::Gpu;
use crate::offload::device::{Failure, Fault, Memory, Result};
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The driver's addresses are multiples of this.
const ALIGN: u64 = 256;
/// Larger pieces are given back at once.
const KEPT: u64 = 256 << 20;
/// At most so much is kept altogether.
const KEPT_TOGETHER: u64 = 2 << 30;

/// What is allocated.
#[derive(Debug, Default)]
struct Pieces {
    /// By the address that was handed out.
    used: BTreeMap<u64, Piece>,
    /// Device memory by size.
    kept: HashMap<u64, Vec<u64>>,
    kept_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    /// What the driver gave.
    start: u64,
    size: u64,
    memory: Memory,
}

/// The device memory of one GPU.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Pieces>);

impl Pool {
    pub(super) fn alloc(&self, gpu: &Gpu, size: u64, align: u64, memory: Memory) -> Result<u64> {
        let extra = if align > ALIGN { align } else { 0 };
        let rounded = size
            .max(1)
            .checked_add(extra)
            .and_then(|s| s.checked_next_multiple_of(ALIGN));
        let Some(rounded) = rounded else {
            return Err(Failure::OutOfMemory { size });
        };
        let kept = (memory == Memory::Device)
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

    pub(super) fn free(&self, gpu: &Gpu, address: u64, memory: Memory) -> Result<()> {
        let piece = {
            let mut pieces = self.0.lock();
            match pieces.used.get(&address) {
                Some(piece) if piece.memory == memory => {
                    let piece = *piece;
                    pieces.used.remove(&address);
                    if memory == Memory::Device && pieces.keep(piece) {
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

    /// Gives everything kept back to the driver; whether there was anything.
    fn drain(&self, gpu: &Gpu) -> Result<bool> {
        let kept = {
            let mut pieces = self.0.lock();
            pieces.kept_bytes = 0;
            std::mem::take(&mut pieces.kept)
        };
        let any = !kept.is_empty();
        for start in kept.into_values().flatten() {
            gpu.raw_free(start, Memory::Device)?;
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
