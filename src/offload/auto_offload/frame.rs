//! The frame: memory without pages of its own, gathered in one buffer for a launch.
//!
//! Pieces that the region writes come first, so that one copy brings them back. Each piece keeps its
//! offset within a cache line. The buffer on the device is kept for the next launch.
//!
//! [`super::launch_inputs`] determines the pieces. The program's memory is read here and not
//! written: [`super::launch`] does that once all kernels have succeeded.

use super::probe::try_read;
use super::residency::Traffic;
use ompvm_offload::device::{Failure, MemoryKind, Queue};
use ompvm_offload::devices::DeviceState;
use std::time::Instant;

/// A piece of host memory that is copied through the frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct FramePiece {
    pub start: usize,
    pub size: usize,
    pub write: bool,
    /// Offset in the frame.
    pub at: usize,
}

impl FramePiece {
    /// Returns true if the piece contains a range.
    pub fn holds(&self, address: u64, len: usize) -> bool {
        let start = self.start as u64;
        start <= address && address + len as u64 <= start + self.size as u64
    }
}

/// Lays the pieces out in the frame, written ones first. Returns the frame's size and device
/// address.
pub(super) fn lay_out(
    state: &DeviceState,
    pieces: &mut Vec<FramePiece>,
) -> Result<(usize, u64), Failure> {
    merge(pieces);
    pieces.sort_by_key(|p| !p.write);
    let mut size = 0usize;
    for piece in pieces.iter_mut() {
        // Keeps the offset within a cache line, and so the alignment.
        piece.at = size.next_multiple_of(64) + piece.start % 64;
        size = piece.at + piece.size;
    }
    if size == 0 {
        return Ok((0, 0));
    }
    let mut known = state.frame_buffer.lock();
    if known.1 < size {
        let fresh = size.next_power_of_two().max(4096);
        if known.1 > 0 {
            state.device.free(known.0, MemoryKind::Device)?;
            *known = (0, 0);
        }
        *known = (
            state.device.alloc(fresh as u64, 256, MemoryKind::Device)?,
            fresh,
        );
    }
    Ok((size, known.0))
}

/// Returns the frame's contents; `None` if a piece is unmapped: a library may have freed it.
pub(super) fn gather(pieces: &[FramePiece], size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0u8; size];
    let mut pieces = pieces.iter();
    let read = pieces.all(|p| try_read(p.start, &mut bytes[p.at..p.at + p.size]));
    read.then_some(bytes)
}

/// Copies the frame to the device.
pub(super) fn upload(
    state: &DeviceState,
    address: u64,
    bytes: &[u8],
    traffic: &mut Traffic,
) -> Result<(), Failure> {
    if bytes.is_empty() {
        return Ok(());
    }
    let began = Instant::now();
    let (from, size) = (bytes.as_ptr(), bytes.len());
    // SAFETY: `bytes` lives until the synchronous copy returns.
    unsafe { state.device.upload(Queue::SYNC, address, from, size)? };
    traffic.to += size as u64;
    traffic.time += began.elapsed().as_nanos() as u64;
    Ok(())
}

/// Copies the front of the frame back from the device.
pub(super) fn download(
    state: &DeviceState,
    address: u64,
    bytes: &mut [u8],
    traffic: &mut Traffic,
) -> Result<(), Failure> {
    if bytes.is_empty() {
        return Ok(());
    }
    let began = Instant::now();
    let (to, size) = (bytes.as_mut_ptr(), bytes.len());
    // SAFETY: `bytes` lives until the synchronous copy returns.
    unsafe { state.device.download(Queue::SYNC, to, address, size)? };
    traffic.from += size as u64;
    traffic.time += began.elapsed().as_nanos() as u64;
    Ok(())
}

/// Merges overlapping pieces.
fn merge(pieces: &mut Vec<FramePiece>) {
    pieces.sort_by_key(|p| p.start);
    let mut merged: Vec<FramePiece> = Vec::new();
    for piece in pieces.drain(..) {
        match merged.last_mut() {
            Some(last) if piece.start < last.start + last.size => {
                let end = (piece.start + piece.size).max(last.start + last.size);
                last.size = end - last.start;
                last.write |= piece.write;
            }
            _ => merged.push(piece),
        }
    }
    *pieces = merged;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_offload_overlapping_pieces_are_merged() {
        let piece = |start, size, write| FramePiece {
            start,
            size,
            write,
            at: 0,
        };
        let mut pieces = vec![
            piece(100, 8, false),
            piece(64, 40, true),
            piece(200, 8, false),
            piece(100, 8, false),
        ];
        merge(&mut pieces);
        let list: Vec<_> = pieces.iter().map(|p| (p.start, p.size, p.write)).collect();
        assert_eq!(list, [(64, 44, true), (200, 8, false)]);
    }
}
