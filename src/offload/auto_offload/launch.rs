//! Runs a region on a device: maps the memory that its arguments lead to, launches its kernels, and
//! copies results back.
//!
//! Blocks with pages of their own stay on the device ([`residency`]). All other memory is gathered
//! in one buffer, the frame, which is copied to the device before the kernel and back after it. The
//! host's memory changes only after all kernels have succeeded.

use super::decision::TransferSize;
use super::heap;
use super::residency::{self, Objects, Traffic};
use super::schedule::{self, Frame, ScheduleInputs};
use super::{Region, RegionPlan, changes, scratch};
use hashbrown::HashMap;
use ompvm_kmpc::hooks;
use ompvm_llvm::kernelize::{Access, Expression, LoopKernel, Origin, Passing};
use ompvm_offload::device::{Failure, Kernel, Launch, MemoryKind, Queue};
use ompvm_offload::devices::DeviceState;
use ompvm_offload::report::{self, GroupRun};
use std::time::Instant;

/// Bytes moved and times of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunStatistics {
    /// Bytes copied to the device.
    pub to: u64,
    /// Bytes copied from the device.
    pub from: u64,
    /// Kernel time in nanoseconds.
    pub kernel: u64,
    /// Copy time in nanoseconds.
    pub transfer: u64,
    /// Remaining time in nanoseconds.
    pub rest: u64,
    /// How a group of devices ran the kernels, if there is a report.
    pub group: Option<GroupRun>,
}

/// Reason why a region did not run on the device.
#[derive(Debug)]
pub(super) enum LaunchError {
    /// The memory that this run's arguments lead to is unsuitable.
    Memory(String),
    /// A failure of the device.
    Device(Failure),
}

impl From<Failure> for LaunchError {
    fn from(failure: Failure) -> LaunchError {
        LaunchError::Device(failure)
    }
}

/// A piece of host memory that is copied through the frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct FramePiece {
    pub start: usize,
    pub size: usize,
    pub write: bool,
    /// Offset in the frame.
    pub at: usize,
}

/// An argument word of a kernel.
#[derive(Clone, Copy, Debug)]
enum ArgumentWord {
    Number(u64),
    /// An address in a resident block or in a piece of the frame.
    Address(usize),
    /// An address that is only compared with others: in a block or piece, at its end, or elsewhere.
    Compared(usize),
}

/// A block that the region uses on the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident {
    pub block: heap::Block,
    pub write: bool,
}

/// A root, or the memory reached from it through pointers at the given offsets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PointerPath {
    root: u32,
    path: Vec<u32>,
}

/// Arguments and memory of a run.
#[derive(Debug, Default)]
pub(super) struct LaunchInputs {
    words: Vec<ArgumentWord>,
    pub residents: Vec<Resident>,
    pub pieces: Vec<FramePiece>,
    /// Memory whose contents were passed as argument words.
    copied: Vec<(usize, usize)>,
    /// Contents of that memory.
    contents: HashMap<PointerPath, Vec<u8>>,
    /// First and last iteration of each loop, if known before the launch.
    bounds: Vec<Option<(i64, i64)>>,
}

/// Maximum bytes of stack that are copied for a region.
const MAX_STACK_BYTES: u64 = 64 << 20;

/// Runs a region on the device.
///
/// # Safety
/// The region must be one that the runtime starts, with the arguments that its plan describes.
pub(super) unsafe fn launch(
    region: &Region,
    plan: &RegionPlan,
    state: &'static DeviceState,
    start: &hooks::RegionStart,
) -> Result<RunStatistics, LaunchError> {
    if !residency::is_device_usable() {
        return Err(LaunchError::Memory(
            "the device belongs to the parent process".into(),
        ));
    }
    let since = Instant::now();
    let loaded = region.program.load(state)?;
    let kernel = |phase: &LoopKernel| loaded.kernel(&phase.kernel);
    let kernels: Option<Vec<Kernel>> = plan.phases.iter().map(kernel).collect();
    let Some(kernels) = kernels else {
        return Err(LaunchError::Device(Failure::Image(
            "it lacks the kernel".into(),
        )));
    };
    let mut objects = residency::lock_objects();
    let before = objects.traffic;
    // SAFETY: by this function's contract.
    let mut inputs =
        unsafe { launch_inputs(region, plan, start, &mut objects) }.map_err(LaunchError::Memory)?;
    let mut own = private_variables(plan, &mut inputs);
    let trips: Vec<Option<u64>> = inputs.bounds.iter().map(count).collect();
    if plan.schedule.is_none() && trips.iter().all(|&n| n == Some(0)) {
        return Err(LaunchError::Memory("it has no iterations".into()));
    }
    make_resident(region, state, &inputs, &mut objects)?;
    let mut traffic = Traffic::default();
    let (frame, mut bytes) = upload_frame(state, &mut inputs, &mut traffic)?;
    let mut words = argument_words(frame, &inputs, &mut objects)?;
    let snapshots = snapshots(state, &inputs, &mut objects)?;
    for resident in inputs.residents.iter().filter(|r| r.write) {
        objects.block_host_access(resident.block.start);
    }
    // Written pieces come first in the frame.
    let written = inputs.pieces.iter().filter(|p| p.write);
    let front = written.map(|p| p.at + p.size).max().unwrap_or(0);
    let sent = bytes[..front].to_vec();
    let began = Instant::now();
    let moved = traffic.time;
    let mut ended = Ok(());
    let mut group = None;
    if let Some(schedule) = &plan.schedule {
        let schedule_inputs = ScheduleInputs {
            state,
            program: &region.program,
            plan,
            schedule,
            kernels: &kernels,
            words: &words,
            private_variables: &mut own,
            launch_inputs: &inputs,
            objects: &mut objects,
            frame: Frame {
                device: frame,
                bytes: &mut bytes,
                writable_bytes: front,
            },
            traffic,
            group: &mut group,
        };
        // SAFETY: by this function's contract.
        match unsafe { schedule::interpret(schedule_inputs, start) } {
            Ok(done) => traffic = done,
            Err(failure) => ended = Err(failure),
        }
    } else {
        ended = run_phases(state, plan, &kernels, &trips, &mut words, &mut group);
    }
    let kernel_time = began.elapsed().as_nanos() as u64 - (traffic.time - moved);
    if let Err(failure) = ended {
        undo(state, &inputs, &snapshots, &mut objects);
        return Err(LaunchError::Device(failure));
    }
    free(state, &snapshots);
    for resident in inputs.residents.iter().filter(|r| r.write) {
        objects.mark_written(resident.block.start, region.policy.copy_back_time());
    }
    if plan.schedule.is_none() {
        download_frame(state, frame, &mut bytes[..front], &mut traffic)?;
    }
    for piece in inputs.pieces.iter().filter(|p| p.write) {
        let range = piece.at..piece.at + piece.size;
        let (sent, now) = (&sent[range.clone()], &bytes[range]);
        // SAFETY: written pieces are live, writable memory of the program, or variables in `own`.
        // Bytes that the region changed are its own.
        unsafe { changes::write_changes(piece.start as *mut u8, sent, now) };
    }
    let after = objects.traffic;
    drop(objects);
    let transfer = traffic.time + (after.time - before.time);
    let whole = since.elapsed().as_nanos() as u64;
    region.policy.mark_completed();
    Ok(RunStatistics {
        to: traffic.to + (after.to - before.to),
        from: traffic.from + (after.from - before.from),
        kernel: kernel_time,
        transfer,
        rest: whole.saturating_sub(kernel_time + transfer),
        group,
    })
}

/// Runs the kernels of a region without a host schedule, one after the other. Loops without
/// iterations have no run.
fn run_phases(
    state: &DeviceState,
    plan: &RegionPlan,
    kernels: &[Kernel],
    trips: &[Option<u64>],
    words: &mut [u64],
    group: &mut Option<GroupRun>,
) -> Result<(), Failure> {
    let all = kernels.iter().zip(trips).zip(&plan.phases);
    for ((kernel, trips), phase) in all.filter(|((_, n), _)| **n != Some(0)) {
        let shape = scratch::shape(state, kernel, trips.unwrap_or(0), phase.scratch)?;
        words[1] = shape.arena;
        let run = Launch {
            blocks: [shape.blocks, 1, 1],
            threads: [shape.threads, 1, 1],
            shared: 0,
            args: words,
            sections: &[],
        };
        state.device.launch(Queue::SYNC, kernel, &run)?;
        report::describe(group, || state.device.describe(kernel, &run));
    }
    Ok(())
}

/// Creates the variables of the thread that interprets the host schedule, and adds those that loops
/// add to as pieces of the frame.
fn private_variables(plan: &RegionPlan, inputs: &mut LaunchInputs) -> Vec<u64> {
    let Some(schedule) = &plan.schedule else {
        return Vec::new();
    };
    let mut own = vec![0u64; schedule.private_bytes.div_ceil(8) as usize + 1];
    for &(at, size) in &schedule.shared {
        inputs.pieces.push(FramePiece {
            start: own.as_mut_ptr() as usize + at as usize,
            size: size as usize,
            write: true,
            at: 0,
        });
    }
    own
}

/// Brings the blocks that a run uses to the device.
fn make_resident(
    region: &Region,
    state: &'static DeviceState,
    inputs: &LaunchInputs,
    objects: &mut Objects,
) -> Result<(), LaunchError> {
    let used: Vec<usize> = inputs.residents.iter().map(|r| r.block.start).collect();
    for resident in &inputs.residents {
        let mut object = objects.make_resident(state, &resident.block, &used);
        if let Err(Failure::OutOfMemory { .. }) = object
            && scratch::release(state)
        {
            object = objects.make_resident(state, &resident.block, &used);
        }
        let object = object?;
        let first = !region.policy.has_completed();
        if resident.write && first && !object.on_host {
            // A failing kernel may cost all device memory, so before the first run of a kernel the
            // host gets its own copy.
            objects.copy_to_host(resident.block.start, 1, false);
        }
    }
    Ok(())
}

/// Gathers the pieces of the frame and copies them to the device. Returns the frame's address there
/// and its bytes.
fn upload_frame(
    state: &DeviceState,
    inputs: &mut LaunchInputs,
    traffic: &mut Traffic,
) -> Result<(u64, Vec<u8>), LaunchError> {
    let (size, frame) = frame(state, inputs)?;
    let mut bytes = vec![0u8; size];
    for piece in &inputs.pieces {
        // A library may have freed and unmapped the memory.
        if !try_read(piece.start, &mut bytes[piece.at..piece.at + piece.size]) {
            return Err(LaunchError::Memory("it uses unmapped memory".into()));
        }
    }
    if size > 0 {
        let began = Instant::now();
        // SAFETY: `bytes` lives until the synchronous copy returns.
        unsafe {
            state
                .device
                .upload(Queue::SYNC, frame, bytes.as_ptr(), size)?
        };
        traffic.to += size as u64;
        traffic.time += began.elapsed().as_nanos() as u64;
    }
    Ok((frame, bytes))
}

/// Copies the front of the frame back from the device.
fn download_frame(
    state: &DeviceState,
    frame: u64,
    bytes: &mut [u8],
    traffic: &mut Traffic,
) -> Result<(), Failure> {
    if bytes.is_empty() {
        return Ok(());
    }
    let began = Instant::now();
    let (to, size) = (bytes.as_mut_ptr(), bytes.len());
    // SAFETY: `bytes` lives until the synchronous copy returns.
    unsafe { state.device.download(Queue::SYNC, to, frame, size)? };
    traffic.from += size as u64;
    traffic.time += began.elapsed().as_nanos() as u64;
    Ok(())
}

/// Returns a kernel's argument words with the device's addresses. The first two are the launch
/// environment and the scratch arena.
fn argument_words(
    frame: u64,
    inputs: &LaunchInputs,
    objects: &mut Objects,
) -> Result<Vec<u64>, LaunchError> {
    let mut words = vec![0, 0];
    for word in &inputs.words {
        words.push(match *word {
            ArgumentWord::Number(number) => number,
            ArgumentWord::Compared(address) => translate(address, frame, inputs, objects)
                .or_else(|| {
                    // The address may be the end of a block.
                    let before = address.checked_sub(1)?;
                    Some(translate(before, frame, inputs, objects)? + 1)
                })
                .unwrap_or(address as u64),
            ArgumentWord::Address(address) => translate(address, frame, inputs, objects)
                .ok_or_else(|| {
                    LaunchError::Memory("an argument points to unknown memory".into())
                })?,
        });
    }
    Ok(words)
}

/// Gives the blocks that a failed run may have written their earlier contents: from the snapshot,
/// or from the host's copy.
fn undo(
    state: &DeviceState,
    inputs: &LaunchInputs,
    snapshots: &[(usize, u64, u64)],
    objects: &mut Objects,
) {
    for &(start, copy, size) in snapshots {
        if let Some(object) = objects.get(start) {
            let _ = state.device.copy(Queue::SYNC, object.device, copy, size);
            object.on_device = true;
        }
    }
    for resident in inputs.residents.iter().filter(|r| r.write) {
        let start = resident.block.start;
        if !snapshots.iter().any(|s| s.0 == start) {
            objects.invalidate_device_copy(start);
        }
    }
    free(state, snapshots);
}

/// Returns the total trip count of a region's loops, if it is known before they run.
///
/// # Safety
/// As for [`launch`].
pub(super) unsafe fn trips(
    region: &Region,
    plan: &RegionPlan,
    start: &hooks::RegionStart,
) -> Option<u64> {
    let word = |root: u32, path: &[u32], offset: u32, bytes: u32| {
        let root = plan.roots.get(root as usize)?;
        let mut address = match &root.origin {
            // SAFETY: by this function's contract, `argv` has an entry for each captured argument.
            Origin::Captured(index) => unsafe { *start.argv.add(*index as usize) as usize },
            Origin::Global(name) => region.program.variables.get(name)?.0,
        };
        if root.passing == Passing::Value {
            return Some(address as u64);
        }
        let mut value = [0; 8];
        for &step in path {
            if address == 0 || !try_read(address + step as usize, &mut value) {
                return None;
            }
            address = u64::from_le_bytes(value) as usize;
        }
        if address == 0 {
            return None;
        }
        value = [0; 8];
        let to = value.get_mut(..bytes as usize)?;
        // SAFETY: the region itself reads these bytes first.
        unsafe {
            let from = (address + offset as usize) as *const u8;
            std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len());
        }
        Some(u64::from_le_bytes(value))
    };
    let bounds = |phase: &LoopKernel| {
        let (first, last) = phase.bounds.as_ref()?;
        Some((first.evaluate(&word)?, last.evaluate(&word)?))
    };
    plan.phases.iter().map(|phase| count(&bounds(phase))).sum()
}

/// Returns the trip count of a loop from its first and last iteration.
fn count(bounds: &Option<(i64, i64)>) -> Option<u64> {
    bounds.map(|(first, last)| match last < first {
        true => 0,
        false => last.wrapping_sub(first) as u64 + 1,
    })
}

/// Returns the bytes that a run of the region would move, or `None` if it cannot run on the device.
///
/// # Safety
/// As for [`launch`].
pub(super) unsafe fn transfer_size(
    region: &Region,
    plan: &RegionPlan,
    start: &hooks::RegionStart,
) -> Option<TransferSize> {
    if !residency::is_device_usable() {
        return None;
    }
    let mut objects = residency::lock_objects();
    // SAFETY: by this function's contract.
    let inputs = unsafe { launch_inputs(region, plan, start, &mut objects) }.ok()?;
    let mut moves = TransferSize::default();
    let of = |applies: bool, size: usize| if applies { size as u64 } else { 0 };
    for piece in &inputs.pieces {
        moves.to += piece.size as u64;
        moves.from += of(piece.write, piece.size);
    }
    for resident in &inputs.residents {
        let size = resident.block.size;
        let (here, there) = match objects.get(resident.block.start) {
            Some(object) => (object.on_host, object.on_device),
            None => (true, false),
        };
        moves.to += of(!there, size);
        moves.from += of(resident.write, size);
        moves.to_host += of(!here, size);
    }
    Some(moves)
}

/// Saves the contents of blocks that a kernel changes and that only the device has, if device
/// memory survives failing kernels.
fn snapshots(
    state: &DeviceState,
    inputs: &LaunchInputs,
    objects: &mut Objects,
) -> Result<Vec<(usize, u64, u64)>, Failure> {
    let mut made = Vec::new();
    if !state.device.survives_faults() {
        return Ok(made);
    }
    for resident in inputs.residents.iter().filter(|r| r.write) {
        let start = resident.block.start;
        let Some(object) = objects.get(start).filter(|o| !o.on_host) else {
            continue;
        };
        let size = object.size as u64;
        let copy = state.device.alloc(size, 256, MemoryKind::Device);
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

fn free(state: &DeviceState, snapshots: &[(usize, u64, u64)]) {
    for &(_, address, _) in snapshots {
        // Freeing may fail only on a device that has failed, where nothing can be freed.
        let _ = state.device.free(address, MemoryKind::Device);
    }
}

/// Returns the device address of a host address.
fn translate(
    address: usize,
    frame: u64,
    inputs: &LaunchInputs,
    objects: &mut Objects,
) -> Option<u64> {
    if address == 0 {
        return Some(0);
    }
    for resident in &inputs.residents {
        let start = resident.block.start;
        if (start..start + resident.block.size).contains(&address) {
            return Some(objects.get(start)?.device + (address - start) as u64);
        }
    }
    let piece = inputs
        .pieces
        .iter()
        .find(|p| (p.start..p.start + p.size.max(1)).contains(&address))?;
    Some(frame + (piece.at + address - piece.start) as u64)
}

/// Returns true if the byte at an address can be read.
fn is_readable(address: usize) -> bool {
    try_read(address, &mut [0])
}

/// Reads memory that may be unmapped. Returns false if it is.
pub(super) fn try_read(address: usize, to: &mut [u8]) -> bool {
    let local = libc::iovec {
        iov_base: to.as_mut_ptr().cast(),
        iov_len: to.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: to.len(),
    };
    // SAFETY: the kernel writes to the slice and checks the remote range.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    read == to.len() as isize
}

/// Lays the pieces out in the frame, written ones first. Returns the frame's size and device
/// address.
fn frame(state: &DeviceState, inputs: &mut LaunchInputs) -> Result<(usize, u64), Failure> {
    merge(&mut inputs.pieces);
    inputs.pieces.sort_by_key(|p| !p.write);
    let mut size = 0usize;
    for piece in &mut inputs.pieces {
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

/// Determines arguments and memory of a run from the roots of the plan.
///
/// # Safety
/// As for [`launch`].
unsafe fn launch_inputs(
    region: &Region,
    plan: &RegionPlan,
    start: &hooks::RegionStart,
    objects: &mut Objects,
) -> Result<LaunchInputs, String> {
    let mut inputs = LaunchInputs::default();
    for (n, root) in plan.roots.iter().enumerate() {
        let (address, known) = match &root.origin {
            Origin::Captured(index) => {
                if *index >= start.argc as u32 {
                    return Err("it was started with too few arguments".into());
                }
                // SAFETY: `index` is below `argc`.
                (unsafe { *start.argv.add(*index as usize) } as usize, None)
            }
            Origin::Global(name) => match region.program.variables.get(name) {
                Some(&(address, size)) => (address, Some(size)),
                None => {
                    return Err(format!(
                        "the variable `{name}` does not belong to the program"
                    ));
                }
            },
        };
        let place = PointerPath {
            root: n as u32,
            path: Vec::new(),
        };
        // SAFETY: by this function's contract, the plan describes the argument.
        unsafe { inputs.add_root(place, &root.passing, address, known, objects)? };
    }
    let word = |root: u32, path: &[u32], offset: u32, bytes: u32| {
        let place = PointerPath {
            root,
            path: path.to_vec(),
        };
        let from = inputs.contents.get(&place)?;
        let part = from.get(offset as usize..(offset + bytes) as usize)?;
        let mut word = [0; 8];
        word.get_mut(..part.len())?.copy_from_slice(part);
        Some(u64::from_le_bytes(word))
    };
    let evaluate = |e: &Expression| e.evaluate(&word);
    let bounds = |phase: &LoopKernel| {
        let (first, last) = phase.bounds.as_ref()?;
        Some((evaluate(first)?, evaluate(last)?))
    };
    let bounds = plan.phases.iter().map(bounds).collect();
    inputs.bounds = bounds;
    for &(start, size) in &inputs.copied {
        let changed = |from: usize, len: usize| from < start + size && start < from + len;
        let object = inputs
            .residents
            .iter()
            .any(|r| r.write && changed(r.block.start, r.block.size));
        let piece = inputs
            .pieces
            .iter()
            .any(|p| p.write && changed(p.start, p.size));
        if object || piece {
            return Err("it changes a variable that determines the memory it uses".into());
        }
    }
    Ok(inputs)
}

impl LaunchInputs {
    /// Adds the argument words and memory of a root, or of a pointer reached from it.
    ///
    /// # Safety
    /// The address must be the program's value of that root or pointer.
    unsafe fn add_root(
        &mut self,
        place: PointerPath,
        passing: &Passing,
        address: usize,
        known: Option<usize>,
        objects: &mut Objects,
    ) -> Result<(), String> {
        let (size, pointers) = match passing {
            Passing::Value => {
                self.words.push(ArgumentWord::Number(address as u64));
                let bytes = (address as u64).to_le_bytes().to_vec();
                self.contents.insert(place, bytes);
                return Ok(());
            }
            Passing::Object(access) => return self.add_object(address, access, known, objects),
            Passing::Copy { size, pointers } => (*size as usize, pointers),
        };
        if address == 0 {
            return Err("it reads an invalid pointer".into());
        }
        objects.copy_to_host(address, size, false);
        self.copied.push((address, size));
        let mut bytes = vec![0u8; size.next_multiple_of(8)];
        // The region may dereference pointers from memory conditionally only, so they are checked.
        if place.path.is_empty() || heap::find(address).is_some() {
            // SAFETY: the region itself reads these bytes of its argument.
            unsafe {
                std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size);
            }
        } else if !try_read(address, &mut bytes[..size]) {
            return Err("it reads an invalid pointer".into());
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
                    // SAFETY: `value` is the program's pointer at that offset.
                    unsafe { self.add_root(further, passing, value as usize, None, objects)? };
                }
                None => self.words.push(ArgumentWord::Number(value)),
            }
        }
        self.contents.insert(place, bytes);
        Ok(())
    }

    /// Adds an address argument and the memory it refers to.
    fn add_object(
        &mut self,
        address: usize,
        access: &Access,
        known: Option<usize>,
        objects: &mut Objects,
    ) -> Result<(), String> {
        if !access.read && !access.write {
            self.words.push(ArgumentWord::Compared(address));
            return Ok(());
        }
        self.words.push(ArgumentWord::Address(address));
        if address == 0 {
            return Ok(());
        }
        let size = access.size.or(known.map(|k| k as u64));
        let block = heap::find(address);
        if let Some(block) = block.filter(heap::Block::owns_pages) {
            let known = objects.get(block.start).is_some();
            let ends = [block.start, block.start + block.size - 1];
            if !known && !ends.into_iter().all(is_readable) {
                return Err("it uses unmapped memory".into());
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
            (None, Some(size)) if size <= MAX_STACK_BYTES => (address, size as usize),
            (None, Some(size)) => {
                return Err(format!(
                    "it uses {size} bytes of a stack, more than can be copied"
                ));
            }
            (None, None) => {
                return Err("it uses memory of unknown size".into());
            }
        };
        objects.copy_to_host(start, size, access.write);
        self.pieces.push(FramePiece {
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
