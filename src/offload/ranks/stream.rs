//! Copies between rank 0 and a device of this process.
//!
//! On the host of rank 0, [`pull`] and [`push`] access its memory directly. Between hosts,
//! [`receive`] and [`send`] use a channel.
//!
//! Memory comes and goes in pieces ([`super::channel`]). It is received into the device's memory,
//! and sent from there, if the host can access it. Otherwise the pieces pass through a buffer of
//! some pieces, so that messages and copies of the device overlap.

use super::channel::{Broken, Channel, PIECE, WINDOW, pieces};
use super::near::ProcessMemory;
use super::protocol::Reply;
use crate::device::{Device, Failure, Queue, Result};
use ompvm_memory::internal_pool;
use ompvm_support::topology;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Receives memory and copies it to the device. After a failure the rest is received, too. The
/// outer error is that of the channel.
pub fn receive(
    channel: &Channel,
    buffer: &mut Vec<u8>,
    (device, queue): (Result<&dyn Device>, Queue),
    to: u64,
    len: usize,
) -> std::result::Result<Result<()>, Broken> {
    if let Ok(device) = &device
        && queue == Queue::SYNC
        && let Some(direct) = device.host_view(to, len as u64)
    {
        // SAFETY: the device says that the host can access the range. If the program frees it
        // meanwhile, that is its own race.
        let whole = unsafe { channel.get_memory(direct.as_ptr(), len) }?;
        return Ok(match whole {
            true => Ok(()),
            false => Err(Failure::Lost("the copy was interrupted".into())),
        });
    }
    buffer.resize(WINDOW * PIECE, 0);
    let slots = buffer.as_mut_ptr();
    // SAFETY: the buffer has `WINDOW` slots.
    let slot = |n: usize| unsafe { slots.add(n % WINDOW * PIECE) };
    let mut result = device.as_ref().map(|_| ()).map_err(Failure::clone);
    let mut waiting = VecDeque::new();
    let mut ahead = pieces(len).enumerate();
    for (n, (at, size)) in pieces(len).enumerate() {
        while waiting.len() < WINDOW
            && let Some((m, (_, size))) = ahead.next()
        {
            // SAFETY: the piece that was in the slot before has been copied to the device.
            waiting.push_back(unsafe { channel.get_piece(slot(m), size) }?);
        }
        if let Some(mut transfer) = waiting.pop_front() {
            channel.link.complete(&mut transfer)?;
        }
        if let (Ok(device), Ok(())) = (&device, &result) {
            // SAFETY: the slot is not received into before the operation is complete.
            result = unsafe { upload(*device, queue, to + at as u64, slot(n), size) };
        }
    }
    Ok(result)
}

/// Copies device memory and sends it. `begin` sends the answer that precedes the pieces; if the
/// first piece fails, there is none. The outer error is that of the channel.
pub fn send(
    channel: &mut Channel,
    buffer: &mut Vec<u8>,
    (device, queue): (&dyn Device, Queue),
    from: u64,
    len: usize,
    begin: impl FnOnce(&mut Channel) -> std::result::Result<(), Broken>,
) -> std::result::Result<Result<()>, Broken> {
    if queue == Queue::SYNC
        && let Some(direct) = device.host_view(from, len as u64)
    {
        begin(channel)?;
        // SAFETY: the device says that the host can access the range.
        unsafe { channel.put_memory(direct.as_ptr(), len) }?;
        return Ok(Ok(()));
    }
    buffer.resize(WINDOW * PIECE, 0);
    let slots = buffer.as_mut_ptr();
    let fetch = |n: usize, at: usize, size: usize| {
        // SAFETY: the buffer has `WINDOW` slots of `PIECE` bytes, and this one is not in use.
        let slot = unsafe { std::slice::from_raw_parts_mut(slots.add(n % WINDOW * PIECE), size) };
        download(device, queue, slot, from + at as u64)
    };
    // Most failures show at the first piece, before rank 0's memory changes.
    let mut result = fetch(0, 0, PIECE.min(len));
    if result.is_err() {
        return Ok(result);
    }
    begin(channel)?;
    let mut sending = VecDeque::new();
    for (n, (at, size)) in pieces(len).enumerate() {
        if sending.len() == WINDOW
            && let Some(mut oldest) = sending.pop_front()
        {
            channel.link.complete(&mut oldest)?;
        }
        if n > 0 && result.is_ok() {
            result = fetch(n, at, size);
        }
        let size = if result.is_ok() { size } else { 0 };
        // SAFETY: the slot is used again only after this transfer is complete.
        let sent = unsafe { channel.put_piece(slots.add(n % WINDOW * PIECE), size) };
        sending.push_back(sent?);
    }
    for mut transfer in sending {
        channel.link.complete(&mut transfer)?;
    }
    Ok(result)
}

/// Copies memory of a process of this host to the device. [`Reply::Unreachable`] if the system
/// refuses the memory.
pub fn pull(
    near: ProcessMemory,
    buffer: &mut Vec<u8>,
    (device, queue): (&dyn Device, Queue),
    to: u64,
    from: u64,
    len: usize,
) -> Result<Reply> {
    let refused = AtomicBool::new(false);
    let read = |at: usize, piece: &mut [u8]| {
        // SAFETY: the piece is writable, and nobody else's.
        let read = unsafe { near.read(piece.as_mut_ptr(), from + at as u64, piece.len()) };
        refused.fetch_or(read.is_err(), Ordering::Relaxed);
    };
    if let Some(direct) = view((device, queue), to, len) {
        // SAFETY: the device says that the host can access the range. If the program frees it
        // meanwhile, that is its own race.
        on_threads(len, &|at, size| unsafe {
            let piece = std::slice::from_raw_parts_mut((direct + at) as *mut u8, size);
            read(at, piece);
        });
    } else if queue != Queue::SYNC || !device.upload_filled(to, len, &read)? {
        buffer.resize(PIECE, 0);
        for (at, size) in pieces(len) {
            read(at, &mut buffer[..size]);
            // SAFETY: the buffer is readable, and the copy is complete at the return.
            unsafe { upload(device, queue, to + at as u64, buffer.as_ptr(), size) }?;
        }
    }
    Ok(outcome(refused))
}

/// Copies device memory to a process of this host. [`Reply::Unreachable`] if the system refuses the
/// memory.
pub fn push(
    near: ProcessMemory,
    buffer: &mut Vec<u8>,
    (device, queue): (&dyn Device, Queue),
    to: u64,
    from: u64,
    len: usize,
) -> Result<Reply> {
    let refused = AtomicBool::new(false);
    let write = |at: usize, piece: &[u8]| {
        // SAFETY: the piece is readable; rank 0 waits for the answer.
        let written = unsafe { near.write(to + at as u64, piece.as_ptr(), piece.len()) };
        refused.fetch_or(written.is_err(), Ordering::Relaxed);
    };
    if let Some(direct) = view((device, queue), from, len) {
        // SAFETY: the device says that the host can access the range.
        on_threads(len, &|at, size| unsafe {
            write(
                at,
                std::slice::from_raw_parts((direct + at) as *const u8, size),
            );
        });
    } else if queue != Queue::SYNC || !device.download_drained(from, len, &write)? {
        buffer.resize(PIECE, 0);
        for (at, size) in pieces(len) {
            download(device, queue, &mut buffer[..size], from + at as u64)?;
            write(at, &buffer[..size]);
        }
    }
    Ok(outcome(refused))
}

/// Returns the host's address of a range of device memory, if the host can access it now.
fn view((device, queue): (&dyn Device, Queue), address: u64, len: usize) -> Option<usize> {
    let found = (queue == Queue::SYNC).then(|| device.host_view(address, len as u64));
    found.flatten().map(|start| start.as_ptr() as usize)
}

/// Returns the answer after copies of which the system refused some, or none.
fn outcome(refused: AtomicBool) -> Reply {
    match refused.into_inner() {
        true => Reply::Unreachable,
        false => Reply::Done,
    }
}

/// Calls `copy` with offset and size of each piece, on several threads if there are many.
fn on_threads(len: usize, copy: &(dyn Fn(usize, usize) + Sync)) {
    const MAX_THREADS: usize = 8;
    let count = len.div_ceil(PIECE);
    let threads = topology::usable_cpus().min(MAX_THREADS).min(count / 4);
    let next = AtomicUsize::new(0);
    internal_pool::run(threads, &|| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed) * PIECE;
            if at >= len {
                return;
            }
            copy(at, PIECE.min(len - at));
        }
    });
}

/// Copies to the device and waits until the source may change.
///
/// # Safety
/// `len` bytes at `from` must be readable.
pub unsafe fn upload(
    device: &dyn Device,
    queue: Queue,
    to: u64,
    from: *const u8,
    len: usize,
) -> Result<()> {
    // SAFETY: by this function's contract; the operation is complete at the return.
    unsafe { device.upload(queue, to, from, len) }?;
    match queue {
        Queue::SYNC => Ok(()),
        queue => device.synchronize(queue),
    }
}

/// Copies from the device and waits for the bytes.
pub fn download(device: &dyn Device, queue: Queue, to: &mut [u8], from: u64) -> Result<()> {
    // SAFETY: `to` is writable; the operation is complete at the return.
    unsafe { device.download(queue, to.as_mut_ptr(), from, to.len()) }?;
    match queue {
        Queue::SYNC => Ok(()),
        queue => device.synchronize(queue),
    }
}
