//! One run of a region on a device: its arguments, the memory they lead to, the kernel, what it left.
//!
//! How memory gets there: blocks with pages of their own stay on the device ([`residency`]); all else is
//! gathered in one piece, the frame, which goes there before the kernel and back after it. What a
//! kernel writes is the host's only when it has ended well.

use super::choice::Moves;
use super::heap;
use super::residency::{self, Objects, Traffic};
use super::walk::{self, Frame, Walk};
use super::{Plan, Region, slices};
use crate::kmpc::hooks;
use crate::llvm::outlined::{Access, Expression, Origin, Passing, Phase};
use crate::offload::device::{Failure, Kernel, Launch, Memory, Queue};
use crate::offload::devices::State;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::time::Instant;

/// What a run took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    /// Bytes to the device.
    pub to: u64,
    /// Bytes from it.
    pub from: u64,
    /// Nanoseconds in the kernel.
    pub kernel: u64,
    /// Nanoseconds in copies.
    pub transfer: u64,
    /// Nanoseconds in all else.
    pub rest: u64,
}

/// Why a region did not run.
#[derive(Debug)]
pub(super) enum Problem {
    /// Of this run: what its addresses lead to.
    Memory(String),
    /// What the device says.
    Device(Failure),
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Problem {
        Problem::Device(failure)
    }
}

/// A piece of memory that goes with the launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub start: usize,
    pub size: usize,
    pub write: bool,
    /// Where it is in the frame.
    pub at: usize,
}

/// A word of the arguments.
#[derive(Clone, Copy, Debug)]
enum Word {
    Number(u64),
    /// An address in an object, or in the frame.
    Address(usize),
    /// An address that is compared with such, in one of them, behind it, or elsewhere.
    Compared(usize),
}

/// A block that a region uses on the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident {
    pub block: heap::Block,
    pub write: bool,
}

/// A root, or where pointers at these offsets lead from there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    root: u32,
    path: Vec<u32>,
}

/// What a run needs.
#[derive(Debug, Default)]
pub(super) struct Needs {
    words: Vec<Word>,
    pub residents: Vec<Resident>,
    pub pieces: Vec<Piece>,
    /// Memory whose contents were passed as words.
    copied: Vec<(usize, usize)>,
    /// These contents.
    contents: HashMap<Place, Vec<u8>>,
    /// Of its loops, where that can be told.
    bounds: Vec<Option<(i64, i64)>>,
}

/// The device's memory for frames, by device.
static FRAMES: Mutex<Option<HashMap<i32, (u64, usize)>>> = Mutex::new(None);

/// Bytes of stack that a region may take along.
const LOOSE: u64 = 64 << 20;

/// Runs a region.
///
/// # Safety
/// A region of the runtime's, with the arguments that its plan is about.
pub(super) unsafe fn launch(
    region: &Region,
    plan: &Plan,
    state: &'static State,
    start: &hooks::Region,
) -> Result<Done, Problem> {
    if !residency::usable() {
        return Err(Problem::Memory("the device is the parent process's".into()));
    }
    let since = Instant::now();
    let loaded = region.program.load(state)?;
    let kernel = |phase: &Phase| loaded.kernel(&phase.kernel);
    let kernels: Option<Vec<Kernel>> = plan.phases.iter().map(kernel).collect();
    let Some(kernels) = kernels else {
        return Err(Problem::Device(Failure::Image(
            "it lacks the kernel".into(),
        )));
    };
    let mut objects = residency::hold();
    let before = objects.traffic;
    // SAFETY: the caller's contract.
    let mut needs = unsafe { needs(region, plan, start, &mut objects) }.map_err(Problem::Memory)?;
    // The variables of the one who walks; loops add to some of them.
    let mut own = vec![
        0u64;
        plan.script
            .as_ref()
            .map_or(0, |s| s.own.div_ceil(8) as usize + 1)
    ];
    for &(at, size) in plan.script.iter().flat_map(|s| &s.shared) {
        needs.pieces.push(Piece {
            start: own.as_mut_ptr() as usize + at as usize,
            size: size as usize,
            write: true,
            at: 0,
        });
    }
    let trips: Vec<Option<u64>> = needs.bounds.iter().map(count).collect();
    if plan.script.is_none() && trips.iter().all(|&n| n == Some(0)) {
        return Err(Problem::Memory("it has no iterations".into()));
    }
    let used: Vec<usize> = needs.residents.iter().map(|r| r.block.start).collect();
    for resident in &needs.residents {
        let mut object = objects.on_device(state, &resident.block, &used);
        if let Err(Failure::OutOfMemory { .. }) = object
            && slices::release(state.number, &*state.device)
        {
            object = objects.on_device(state, &resident.block, &used);
        }
        let object = object?;
        let first = !region.policy.proved();
        if resident.write && first && !object.on_host {
            // The first run of a kernel may fail, and then the device may lose all.
            objects.bring(resident.block.start, 1, false);
        }
    }
    let (size, frame) = frame(state, &mut needs)?;
    let device = &*state.device;
    let mut traffic = Traffic::default();
    let mut bytes = vec![0u8; size];
    if size > 0 {
        for piece in &needs.pieces {
            // What a library freed behind our back may not be there any more.
            if !read_carefully(piece.start, &mut bytes[piece.at..piece.at + piece.size]) {
                return Err(Problem::Memory("it uses memory that is not there".into()));
            }
        }
        let began = Instant::now();
        // SAFETY: the bytes live until the call returns.
        unsafe { device.upload(Queue::SYNC, frame, bytes.as_ptr(), size)? };
        traffic.to += size as u64;
        traffic.time += began.elapsed().as_nanos() as u64;
    }
    // The launch's environment, and where slices are.
    let mut words = vec![0, 0];
    for word in &needs.words {
        words.push(match *word {
            Word::Number(number) => number,
            Word::Compared(address) => translate(address, frame, &needs, &mut objects)
                .or_else(|| {
                    // The end of a vector.
                    let before = address.checked_sub(1)?;
                    Some(translate(before, frame, &needs, &mut objects)? + 1)
                })
                .unwrap_or(address as u64),
            Word::Address(address) => translate(address, frame, &needs, &mut objects)
                .ok_or_else(|| Problem::Memory("an address leads nowhere".into()))?,
        });
    }
    let snapshots = snapshots(state, &needs, &mut objects)?;
    for resident in needs.residents.iter().filter(|r| r.write) {
        objects.take_away(resident.block.start);
    }
    // What is written lies in front.
    let written = needs.pieces.iter().filter(|p| p.write);
    let front = written.map(|p| p.at + p.size).max().unwrap_or(0);
    let began = Instant::now();
    let moved = traffic.time;
    let mut ended = Ok(());
    if let Some(script) = &plan.script {
        let walk = Walk {
            state,
            program: &region.program,
            plan,
            script,
            kernels: &kernels,
            words: &words,
            own: &mut own,
            needs: &needs,
            objects: &mut objects,
            frame: Frame {
                device: frame,
                bytes: &mut bytes,
                front,
            },
            traffic,
        };
        // SAFETY: the caller's contract.
        match unsafe { walk::run(walk, start) } {
            Ok(done) => traffic = done,
            Err(failure) => ended = Err(failure),
        }
    } else {
        let all = kernels.iter().zip(trips).zip(&plan.phases);
        for ((kernel, trips), phase) in all.filter(|((_, n), _)| *n != Some(0)) {
            ended = ended.and_then(|()| {
                let shape = slices::shape(state, kernel, trips.unwrap_or(0), phase.scratch)?;
                words[1] = shape.slices;
                let run = Launch {
                    blocks: [shape.blocks, 1, 1],
                    threads: [shape.threads, 1, 1],
                    shared: 0,
                    args: &words,
                };
                device.launch(Queue::SYNC, kernel, &run)
            });
        }
    }
    let kernel_time = began.elapsed().as_nanos() as u64 - (traffic.time - moved);
    if let Err(failure) = ended {
        for (start, copy, size) in &snapshots {
            if let Some(object) = objects.get(*start) {
                let _ = device.copy(Queue::SYNC, object.device, *copy, *size);
                object.on_device = true;
            }
        }
        for resident in needs.residents.iter().filter(|r| r.write) {
            let start = resident.block.start;
            if !snapshots.iter().any(|s| s.0 == start) {
                objects.spoilt(start);
            }
        }
        free(state, &snapshots);
        return Err(Problem::Device(failure));
    }
    free(state, &snapshots);
    for resident in needs.residents.iter().filter(|r| r.write) {
        objects.written(resident.block.start, region.policy.returns());
    }
    if front > 0 {
        if plan.script.is_none() {
            let began = Instant::now();
            // SAFETY: a buffer of that size.
            unsafe { device.download(Queue::SYNC, bytes.as_mut_ptr(), frame, front)? };
            traffic.from += front as u64;
            traffic.time += began.elapsed().as_nanos() as u64;
        }
        for piece in needs.pieces.iter().filter(|p| p.write) {
            // SAFETY: live memory of the program, which it may write, or of the walk's variables.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    bytes.as_ptr().add(piece.at),
                    piece.start as *mut u8,
                    piece.size,
                );
            }
        }
    }
    let after = objects.traffic;
    drop(objects);
    let transfer = traffic.time + (after.time - before.time);
    let whole = since.elapsed().as_nanos() as u64;
    region.policy.prove();
    Ok(Done {
        to: traffic.to + (after.to - before.to),
        from: traffic.from + (after.from - before.from),
        kernel: kernel_time,
        transfer,
        rest: whole.saturating_sub(kernel_time + transfer),
    })
}

/// How many iterations the loops of a region that starts have, when that can be told.
///
/// # Safety
/// As for [`launch`].
pub(super) unsafe fn trips(region: &Region, plan: &Plan, start: &hooks::Region) -> Option<u64> {
    let word = |root: u32, path: &[u32], offset: u32, bytes: u32| {
        let root = plan.roots.get(root as usize)?;
        let mut address = match &root.origin {
            // SAFETY: one of `argc` pointers.
            Origin::Captured(index) => unsafe { *start.argv.add(*index as usize) as usize },
            Origin::Global(name) => region.program.variables.get(name)?.0,
        };
        if root.passing == Passing::Value {
            return Some(address as u64);
        }
        let mut value = [0; 8];
        for &step in path {
            if address == 0 || !read_carefully(address + step as usize, &mut value) {
                return None;
            }
            address = u64::from_le_bytes(value) as usize;
        }
        if address == 0 {
            return None;
        }
        value = [0; 8];
        let to = value.get_mut(..bytes as usize)?;
        // SAFETY: the region reads these bytes before anything else.
        unsafe {
            let from = (address + offset as usize) as *const u8;
            std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len());
        }
        Some(u64::from_le_bytes(value))
    };
    let bounds = |phase: &Phase| {
        let (first, last) = phase.bounds.as_ref()?;
        Some((first.evaluate(&word)?, last.evaluate(&word)?))
    };
    plan.phases.iter().map(|phase| count(&bounds(phase))).sum()
}

/// How many iterations a loop has with a first one and a last one.
fn count(bounds: &Option<(i64, i64)>) -> Option<u64> {
    bounds.map(|(first, last)| match last < first {
        true => 0,
        false => last.wrapping_sub(first) as u64 + 1,
    })
}

/// Bytes that a run of a region moves; none when it cannot run on the device.
///
/// # Safety
/// As for [`launch`].
pub(super) unsafe fn moves(region: &Region, plan: &Plan, start: &hooks::Region) -> Option<Moves> {
    if !residency::usable() {
        return None;
    }
    let mut objects = residency::hold();
    // SAFETY: the caller's contract.
    let needs = unsafe { needs(region, plan, start, &mut objects) }.ok()?;
    let mut moves = Moves::default();
    let of = |applies: bool, size: usize| if applies { size as u64 } else { 0 };
    for piece in &needs.pieces {
        moves.to += piece.size as u64;
        moves.from += of(piece.write, piece.size);
    }
    for resident in &needs.residents {
        let size = resident.block.size;
        let (here, there) = match objects.get(resident.block.start) {
            Some(object) => (object.on_host, object.on_device),
            None => (true, false),
        };
        moves.to += of(!there, size);
        moves.from += of(resident.write, size);
        moves.away += of(!here, size);
    }
    Some(moves)
}

/// Copies of what a kernel changes and the host does not have, where a device outlives failing kernels.
fn snapshots(
    state: &State,
    needs: &Needs,
    objects: &mut Objects,
) -> Result<Vec<(usize, u64, u64)>, Failure> {
    let mut made = Vec::new();
    if !state.device.survives() {
        return Ok(made);
    }
    for resident in needs.residents.iter().filter(|r| r.write) {
        let start = resident.block.start;
        let Some(object) = objects.get(start).filter(|o| !o.on_host) else {
            continue;
        };
        let size = object.size as u64;
        let copy = state.device.alloc(size, 256, Memory::Device);
        let done = copy.and_then(|copy| {
            made.push((start, copy, size));
            state.device.copy(Queue::SYNC, copy, object.device, size)
        });
        if let Err(failure) = done {
            free(state, &made);
            return Err(failure);
        }
    }
    Ok(made)
}

fn free(state: &State, snapshots: &[(usize, u64, u64)]) {
    for &(_, address, _) in snapshots {
        // A device that fails has nothing to give back.
        let _ = state.device.free(address, Memory::Device);
    }
}

/// Where an address of the host is on the device.
fn translate(address: usize, frame: u64, needs: &Needs, objects: &mut Objects) -> Option<u64> {
    if address == 0 {
        return Some(0);
    }
    for resident in &needs.residents {
        let start = resident.block.start;
        if (start..start + resident.block.size).contains(&address) {
            return Some(objects.get(start)?.device + (address - start) as u64);
        }
    }
    let piece = needs
        .pieces
        .iter()
        .find(|p| (p.start..p.start + p.size.max(1)).contains(&address))?;
    Some(frame + (piece.at + address - piece.start) as u64)
}

/// Whether there is a byte at an address.
fn there(address: usize) -> bool {
    read_carefully(address, &mut [0])
}

/// Reads memory that may not be there.
pub(super) fn read_carefully(address: usize, to: &mut [u8]) -> bool {
    let local = libc::iovec {
        iov_base: to.as_mut_ptr().cast(),
        iov_len: to.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: to.len(),
    };
    // SAFETY: writes to the slice; the other side is checked by the system.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    read == to.len() as isize
}

/// Puts the pieces one behind the other, those that are written first; the size, and where that is on the
/// device.
fn frame(state: &State, needs: &mut Needs) -> Result<(usize, u64), Failure> {
    merge(&mut needs.pieces);
    needs.pieces.sort_by_key(|p| !p.write);
    let mut size = 0usize;
    for piece in &mut needs.pieces {
        // As far from a boundary as on the host, so that it is aligned as well.
        piece.at = size.next_multiple_of(64) + piece.start % 64;
        size = piece.at + piece.size;
    }
    if size == 0 {
        return Ok((0, 0));
    }
    let mut frames = FRAMES.lock();
    let known = frames
        .get_or_insert_default()
        .entry(state.number)
        .or_insert((0, 0));
    if known.1 < size {
        let fresh = size.next_power_of_two().max(4096);
        if known.1 > 0 {
            state.device.free(known.0, Memory::Device)?;
            *known = (0, 0);
        }
        *known = (
            state.device.alloc(fresh as u64, 256, Memory::Device)?,
            fresh,
        );
    }
    Ok((size, known.0))
}

/// Makes one of pieces that overlap.
fn merge(pieces: &mut Vec<Piece>) {
    pieces.sort_by_key(|p| p.start);
    let mut merged: Vec<Piece> = Vec::new();
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

/// Follows a region's roots.
///
/// # Safety
/// As for [`launch`].
unsafe fn needs(
    region: &Region,
    plan: &Plan,
    start: &hooks::Region,
    objects: &mut Objects,
) -> Result<Needs, String> {
    let mut needs = Needs::default();
    for (n, root) in plan.roots.iter().enumerate() {
        let (address, known) = match &root.origin {
            Origin::Captured(index) => {
                if *index >= start.argc as u32 {
                    return Err("it was started with fewer arguments".into());
                }
                // SAFETY: one of `argc` pointers.
                (unsafe { *start.argv.add(*index as usize) } as usize, None)
            }
            Origin::Global(name) => match region.program.variables.get(name) {
                Some(&(address, size)) => (address, Some(size)),
                None => return Err(format!("the variable `{name}` is not the program's")),
            },
        };
        let place = Place {
            root: n as u32,
            path: Vec::new(),
        };
        // SAFETY: as the plan says of the argument.
        unsafe { needs.pass(place, &root.passing, address, known, objects)? };
    }
    let word = |root: u32, path: &[u32], offset: u32, bytes: u32| {
        let place = Place {
            root,
            path: path.to_vec(),
        };
        let from = needs.contents.get(&place)?;
        let part = from.get(offset as usize..(offset + bytes) as usize)?;
        let mut word = [0; 8];
        word.get_mut(..part.len())?.copy_from_slice(part);
        Some(u64::from_le_bytes(word))
    };
    let evaluate = |e: &Expression| e.evaluate(&word);
    let bounds = |phase: &Phase| {
        let (first, last) = phase.bounds.as_ref()?;
        Some((evaluate(first)?, evaluate(last)?))
    };
    let bounds = plan.phases.iter().map(bounds).collect();
    needs.bounds = bounds;
    for &(start, size) in &needs.copied {
        let changed = |from: usize, len: usize| from < start + size && start < from + len;
        let object = needs
            .residents
            .iter()
            .any(|r| r.write && changed(r.block.start, r.block.size));
        let piece = needs
            .pieces
            .iter()
            .any(|p| p.write && changed(p.start, p.size));
        if object || piece {
            return Err("it changes a variable that says what it works on".into());
        }
    }
    Ok(needs)
}

impl Needs {
    /// What one root needs, or what a pointer in it leads to.
    ///
    /// # Safety
    /// The address is what the program has there.
    unsafe fn pass(
        &mut self,
        place: Place,
        passing: &Passing,
        address: usize,
        known: Option<usize>,
        objects: &mut Objects,
    ) -> Result<(), String> {
        let (size, pointers) = match passing {
            Passing::Value => {
                self.words.push(Word::Number(address as u64));
                let bytes = (address as u64).to_le_bytes().to_vec();
                self.contents.insert(place, bytes);
                return Ok(());
            }
            Passing::Object(access) => return self.object(address, access, known, objects),
            Passing::Copy { size, pointers } => (*size as usize, pointers),
        };
        if address == 0 {
            return Err("a pointer in it leads nowhere".into());
        }
        objects.bring(address, size, false);
        self.copied.push((address, size));
        let mut bytes = vec![0u8; size.next_multiple_of(8)];
        // What pointers in memory lead to, the region may reach only under a condition.
        if place.path.is_empty() || heap::find(address).is_some() {
            // SAFETY: the region reads these bytes of what it was given.
            unsafe {
                std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size);
            }
        } else if !read_carefully(address, &mut bytes[..size]) {
            return Err("a pointer in it leads nowhere".into());
        }
        for word in 0..bytes.len() / 8 {
            let at = 8 * word;
            let mut value = [0; 8];
            value.copy_from_slice(&bytes[at..at + 8]);
            let value = u64::from_le_bytes(value);
            match pointers.iter().find(|(offset, _)| *offset as usize == at) {
                Some((offset, passing)) => {
                    let mut further = place.clone();
                    further.path.push(*offset);
                    // SAFETY: the pointer that the program has there.
                    unsafe { self.pass(further, passing, value as usize, None, objects)? };
                }
                None => self.words.push(Word::Number(value)),
            }
        }
        self.contents.insert(place, bytes);
        Ok(())
    }

    /// What an address leads to.
    fn object(
        &mut self,
        address: usize,
        access: &Access,
        known: Option<usize>,
        objects: &mut Objects,
    ) -> Result<(), String> {
        if !access.read && !access.write {
            self.words.push(Word::Compared(address));
            return Ok(());
        }
        self.words.push(Word::Address(address));
        if address == 0 {
            return Ok(());
        }
        let size = access.size.or(known.map(|k| k as u64));
        let block = heap::find(address);
        if let Some(block) = block.filter(heap::Block::alone) {
            let known = objects.get(block.start).is_some();
            let ends = [block.start, block.start + block.size - 1];
            if !known && !ends.into_iter().all(there) {
                return Err("it uses memory that is not there".into());
            }
            match self
                .residents
                .iter_mut()
                .find(|r| r.block.start == block.start)
            {
                Some(resident) => resident.write |= access.write,
                None => self.residents.push(Resident {
                    block,
                    write: access.write,
                }),
            }
            return Ok(());
        }
        let (start, size) = match (block, size) {
            (Some(block), _) => (block.start, block.size),
            (None, Some(size)) if size <= LOOSE => (address, size as usize),
            (None, Some(size)) => return Err(format!("it takes {size} bytes of a stack along")),
            (None, None) => {
                return Err("it uses memory whose size is not known".into());
            }
        };
        objects.bring(start, size, access.write);
        self.pieces.push(Piece {
            start,
            size,
            write: access.write,
            at: 0,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlined_pieces_that_overlap_become_one() {
        let piece = |start, size, write| Piece {
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
