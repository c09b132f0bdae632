//! Interprets the host schedule of a region between its kernels.
//!
//! Steps of a [`HostSchedule`] run on the host once, on behalf of all threads. Kernels are launched
//! without waiting; the interpreter waits only when it reads memory that a kernel may have changed,
//! as after a reduction. The thread's private variables are host memory. The frame has a host copy:
//! pieces that are read are copied from the device if a kernel may have changed them, and changes
//! are copied to the device before the next kernel. Blocks with pages of their own are on the
//! device, where the interpreter accesses them directly.
//!
//! The program's memory is not changed here; [`super::launch`] copies the frame back after
//! everything has succeeded.

use super::frame::FramePiece;
use super::launch_inputs::LaunchInputs;
use super::probe::try_read;
use super::residency::{Objects, Traffic};
use super::{Program, RegionPlan, scratch};
use ompvm_kmpc::hooks;
use ompvm_llvm::kernelize::{
    HostSchedule, KernelLaunch, Origin, Passing, ScheduleOperand, ScheduleStep,
};
use ompvm_offload::device::{Device, Failure, Kernel, Launch, Queue};
use ompvm_offload::devices;
use ompvm_offload::report::{self, GroupRun};
use std::ops::Range;
use std::time::Instant;

type Result<T> = std::result::Result<T, Failure>;

/// The memory that is copied with the launch.
pub(super) struct Frame<'a> {
    /// Device address.
    pub device: u64,
    /// Host copy of the contents.
    pub bytes: &'a mut [u8],
    /// Size of the writable prefix in bytes.
    pub writable_bytes: usize,
}

/// Inputs of the interpreter.
pub(super) struct ScheduleInputs<'a> {
    pub state: &'static devices::DeviceState,
    pub program: &'a Program,
    pub plan: &'a RegionPlan,
    pub schedule: &'a HostSchedule,
    pub kernels: &'a [Kernel],
    /// Argument words common to all kernels.
    pub words: &'a [u64],
    /// Private variables of the thread.
    pub private_variables: &'a mut [u64],
    pub launch_inputs: &'a LaunchInputs,
    pub objects: &'a mut Objects,
    pub frame: Frame<'a>,
    pub traffic: Traffic,
    /// Gets how a group of devices ran the kernels.
    pub group: &'a mut Option<GroupRun>,
}

fn unsupported(why: &str) -> Failure {
    Failure::Unsupported {
        reason: why.into(),
        place: None,
    }
}

/// State of the interpreter.
struct Interpreter<'a> {
    inputs: ScheduleInputs<'a>,
    /// Values that the steps computed.
    words: Vec<u64>,
    captured: Vec<u64>,
    variables: Vec<u64>,
    /// Indices of the frame's pieces that each phase may change; `None` means all.
    changes: Vec<Option<Vec<usize>>>,
    /// True for pieces whose current contents are only on the device.
    stale: Vec<bool>,
    /// Ranges of the frame that were changed since they were last copied to the device.
    dirty: Vec<Range<usize>>,
    last: Option<usize>,
}

/// Interprets the host schedule. On success all kernels have completed and the host copy of the
/// frame is current.
///
/// # Safety
/// The region must be one that the runtime starts, with the arguments that its plan describes.
pub(super) unsafe fn interpret(
    inputs: ScheduleInputs<'_>,
    start: &hooks::RegionStart,
) -> Result<Traffic> {
    let captured: Vec<u64> = (0..start.argc as usize)
        // SAFETY: `i` is below `argc`.
        .map(|i| unsafe { *start.argv.add(i) as u64 })
        .collect();
    let variable = |name: &String| {
        let known = inputs.program.variables.get(name).map(|v| v.0);
        let known = known.or_else(|| inputs.program.constants.get(name).copied());
        known
            .map(|address| address as u64)
            .ok_or_else(|| unsupported("a variable does not belong to the program"))
    };
    let variables = inputs.schedule.variables.iter().map(variable);
    let variables = variables.collect::<Result<Vec<u64>>>()?;
    // Returns the piece that a root refers to; `None` inside means that it is in none of them.
    let piece = |&root: &u32| -> Option<Option<usize>> {
        let root = inputs.plan.roots.get(root as usize)?;
        let address = match &root.origin {
            Origin::Captured(index) => *captured.get(*index as usize)?,
            Origin::Global(name) => inputs.program.variables.get(name)?.0 as u64,
        };
        // A copied root contains pointers to other memory.
        let copy = matches!(root.passing, Passing::Copy { .. });
        (!copy).then(|| {
            inputs
                .launch_inputs
                .pieces
                .iter()
                .position(|p| p.holds(address, 1))
        })
    };
    let phases = inputs.plan.phases.iter();
    let changes = phases.map(|phase| {
        let pieces: Option<Vec<Option<usize>>> = phase.writes.iter().map(piece).collect();
        Some(pieces?.into_iter().flatten().collect())
    });
    let changes = changes.collect();
    let mut state = Interpreter {
        words: vec![0; inputs.schedule.words as usize],
        captured,
        variables,
        changes,
        stale: vec![false; inputs.launch_inputs.pieces.len()],
        dirty: Vec::new(),
        last: None,
        inputs,
    };
    let mut ended = state.steps();
    // Kernels must not run on after this function returns, even on failure.
    if let Some(last) = state.last {
        ended = ended.and(
            state
                .inputs
                .state
                .device
                .await_launch(&state.inputs.kernels[last]),
        );
    }
    ended.and_then(|()| state.make_all_current())?;
    Ok(state.inputs.traffic)
}

/// The memory that an address refers to.
enum Location {
    Own(usize),
    /// Offset in the frame and index of the piece.
    Frame(usize, usize),
    Device(u64, bool),
    Host,
}

impl Interpreter<'_> {
    fn device(&self) -> &'static dyn Device {
        &*self.inputs.state.device
    }

    fn value(&self, operand: ScheduleOperand) -> u64 {
        let at = |list: &[u64], index: u32| list.get(index as usize).copied().unwrap_or(0);
        match operand {
            ScheduleOperand::Word(word) => at(&self.words, word),
            ScheduleOperand::Constant(bits) => bits,
            ScheduleOperand::Captured(index) => at(&self.captured, index),
            ScheduleOperand::Variable(number, offset) => {
                at(&self.variables, number).wrapping_add_signed(offset)
            }
            ScheduleOperand::Private(offset) => {
                self.inputs.private_variables.as_ptr() as u64 + u64::from(offset)
            }
        }
    }

    fn values(&self, list: &[ScheduleOperand]) -> Vec<u64> {
        list.iter().map(|&o| self.value(o)).collect()
    }

    fn set(&mut self, word: u32, value: u64) {
        if let Some(place) = self.words.get_mut(word as usize) {
            *place = value;
        }
    }

    fn steps(&mut self) -> Result<()> {
        let schedule = self.inputs.schedule;
        let mut next = 0;
        while let Some(step) = schedule.steps.get(next) {
            next += 1;
            match step {
                ScheduleStep::Move(moves) => {
                    let values: Vec<u64> = moves.iter().map(|&(_, o)| self.value(o)).collect();
                    for (&(word, _), value) in moves.iter().zip(values) {
                        self.set(word, value);
                    }
                }
                ScheduleStep::Int(word, operation, bits, parts) => {
                    let parts: Vec<i64> = parts.iter().map(|&o| self.value(o) as i64).collect();
                    let result = operation.apply(*bits, &parts);
                    let result =
                        result.ok_or_else(|| unsupported("a division by zero around its loops"))?;
                    self.set(*word, result as u64);
                }
                ScheduleStep::Float(word, operation, bits, parts) => {
                    let parts = self.values(parts);
                    let result = operation.apply(*bits, &parts);
                    self.set(*word, result.unwrap_or(0));
                }
                ScheduleStep::Convert(word, conversion, sizes, from) => {
                    let from = self.value(*from);
                    self.set(*word, conversion.apply(*sizes, from));
                }
                ScheduleStep::Load(word, from, bytes) => {
                    let mut value = [0; 8];
                    let part = value.get_mut(..*bytes as usize);
                    let part = part.ok_or_else(|| unsupported("a read of more than a word"))?;
                    self.read(self.value(*from), part)?;
                    self.set(*word, u64::from_le_bytes(value));
                }
                ScheduleStep::Store(to, value, bytes) => {
                    let value = self.value(*value).to_le_bytes();
                    let part = value.get(..*bytes as usize);
                    let part = part.ok_or_else(|| unsupported("a write of more than a word"))?;
                    self.write(self.value(*to), part)?;
                }
                ScheduleStep::Fill(to, value, count) => {
                    let bytes = vec![self.value(*value) as u8; *count as usize];
                    self.write(self.value(*to), &bytes)?;
                }
                ScheduleStep::Copy(to, from, count) => {
                    let mut bytes = vec![0; *count as usize];
                    self.read(self.value(*from), &mut bytes)?;
                    self.write(self.value(*to), &bytes)?;
                }
                ScheduleStep::Jump(to) => next = *to as usize,
                ScheduleStep::Branch(condition, then, other) => {
                    let chosen = match self.value(*condition) & 1 {
                        0 => other,
                        _ => then,
                    };
                    next = *chosen as usize;
                }
                ScheduleStep::Launch(run) => self.launch(run)?,
                ScheduleStep::End => return Ok(()),
            }
        }
        Ok(())
    }

    fn locate(&mut self, address: u64, len: usize) -> Location {
        let launch_inputs = self.inputs.launch_inputs;
        let pieces = &launch_inputs.pieces;
        // Pieces include some of the thread's private variables.
        if let Some(number) = pieces.iter().position(|p| p.holds(address, len)) {
            let piece = &pieces[number];
            let at = piece.at + (address - piece.start as u64) as usize;
            return Location::Frame(at, number);
        }
        let private_variables = self.inputs.private_variables.as_ptr() as u64;
        let size = 8 * self.inputs.private_variables.len() as u64;
        if private_variables <= address && address + len as u64 <= private_variables + size {
            return Location::Own((address - private_variables) as usize);
        }
        for resident in &launch_inputs.residents {
            let (start, size) = (resident.block.start as u64, resident.block.size as u64);
            if start <= address
                && address + len as u64 <= start + size
                && let Some(object) = self.inputs.objects.get(resident.block.start)
            {
                return Location::Device(object.device + (address - start), resident.write);
            }
        }
        Location::Host
    }

    /// Returns the device address of a host address.
    fn device_address(&mut self, address: u64) -> Result<u64> {
        if address == 0 {
            return Ok(0);
        }
        match self.locate(address, 1) {
            Location::Frame(at, _) => Ok(self.inputs.frame.device + at as u64),
            Location::Device(at, _) => Ok(at),
            Location::Own(_) | Location::Host => {
                Err(unsupported("an argument points to unknown memory"))
            }
        }
    }

    fn read(&mut self, address: u64, to: &mut [u8]) -> Result<()> {
        match self.locate(address, to.len()) {
            Location::Own(at) => {
                // SAFETY: `locate` checked that the bytes lie in `private_variables`.
                unsafe {
                    let from = self.inputs.private_variables.as_ptr().cast::<u8>().add(at);
                    std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len());
                }
            }
            Location::Frame(at, piece) => {
                self.make_current(piece)?;
                to.copy_from_slice(&self.inputs.frame.bytes[at..at + to.len()]);
            }
            Location::Device(at, _) => {
                let device = self.device();
                // SAFETY: `to` has that length, and the copy is synchronous.
                unsafe { device.download(Queue::SYNC, to.as_mut_ptr(), at, to.len())? };
                self.inputs.traffic.from += to.len() as u64;
            }
            Location::Host => {
                if !try_read(address as usize, to) {
                    return Err(unsupported("it uses unmapped memory"));
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<()> {
        match self.locate(address, from.len()) {
            Location::Own(at) => {
                // SAFETY: `locate` checked that the bytes lie in `private_variables`.
                unsafe {
                    let to = self
                        .inputs
                        .private_variables
                        .as_mut_ptr()
                        .cast::<u8>()
                        .add(at);
                    std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len());
                }
                Ok(())
            }
            Location::Frame(at, piece) if self.inputs.launch_inputs.pieces[piece].write => {
                self.make_current(piece)?;
                let end = at + from.len();
                self.inputs.frame.bytes[at..end].copy_from_slice(from);
                self.dirty.push(at..end);
                Ok(())
            }
            Location::Device(at, true) => {
                let device = self.device();
                self.inputs.traffic.to += from.len() as u64;
                // SAFETY: `from` has that length; on `SYNC` it has been read when the call returns.
                unsafe { device.upload(Queue::SYNC, at, from.as_ptr(), from.len()) }
            }
            _ => Err(unsupported("it writes to unknown memory")),
        }
    }

    /// Makes the host copy of a piece current.
    fn make_current(&mut self, piece: usize) -> Result<()> {
        if std::mem::take(&mut self.stale[piece]) {
            let piece = &self.inputs.launch_inputs.pieces[piece];
            self.download(piece.at..piece.at + piece.size)?;
        }
        Ok(())
    }

    /// Makes the host copy of all pieces current.
    fn make_all_current(&mut self) -> Result<()> {
        if self.stale.contains(&true) {
            self.flush()?;
            self.download(0..self.inputs.frame.writable_bytes)?;
        }
        Ok(())
    }

    fn download(&mut self, range: Range<usize>) -> Result<()> {
        let began = Instant::now();
        let device = self.device();
        let frame = &mut self.inputs.frame;
        let from = frame.device + range.start as u64;
        let to = &mut frame.bytes[range];
        self.inputs.traffic.from += to.len() as u64;
        // SAFETY: `to` has that length, and the copy is synchronous.
        unsafe {
            device.download(Queue::SYNC, to.as_mut_ptr(), from, to.len())?;
        }
        self.inputs.traffic.time += began.elapsed().as_nanos() as u64;
        Ok(())
    }

    /// Copies the interpreter's changes to the device.
    fn flush(&mut self) -> Result<()> {
        let mut ranges = std::mem::take(&mut self.dirty);
        let Some(start) = ranges.iter().map(|r| r.start).min() else {
            return Ok(());
        };
        let end = ranges.iter().map(|r| r.end).max().unwrap_or(start);
        let pieces = self.inputs.launch_inputs.pieces.iter().zip(&self.stale);
        let stale = |(piece, stale): (&FramePiece, &bool)| {
            *stale && piece.at < end && start < piece.at + piece.size
        };
        if !pieces.into_iter().any(stale) {
            ranges.clear();
            ranges.push(start..end);
        }
        for range in ranges {
            let to = self.inputs.frame.device + range.start as u64;
            let bytes = &self.inputs.frame.bytes[range];
            self.inputs.traffic.to += bytes.len() as u64;
            // SAFETY: `bytes` has that length; on `SYNC` it has been read when the call returns.
            unsafe {
                self.device()
                    .upload(Queue::SYNC, to, bytes.as_ptr(), bytes.len())?;
            }
        }
        Ok(())
    }

    fn launch(&mut self, run: &KernelLaunch) -> Result<()> {
        let trips = run.trips(self.value(run.first), self.value(run.last));
        if trips == 0 {
            return Ok(());
        }
        let device = self.device();
        self.flush()?;
        let phase = run.phase as usize;
        let kernel = self.inputs.kernels.get(phase);
        let kernel = kernel.ok_or_else(|| unsupported("it lacks the kernel"))?;
        let mut words = self.inputs.words.to_vec();
        let mut added = Vec::new();
        for (n, &operand) in (0u32..).zip(&run.words) {
            let value = self.value(operand);
            words.push(match run.addresses.contains(&n) {
                true => self.device_address(value)?,
                false => value,
            });
            // The kernel adds to a private variable.
            if let (ScheduleOperand::Private(_), Location::Frame(_, piece)) =
                (operand, self.locate(value, 1))
            {
                added.push(piece);
            }
        }
        let slice = self.inputs.plan.phases.get(phase).map_or(0, |p| p.scratch);
        let shape = scratch::shape(self.inputs.state, kernel, trips, slice)?;
        words[1] = shape.arena;
        let launch = Launch {
            blocks: [shape.blocks, 1, 1],
            threads: [shape.threads, 1, 1],
            shared: 0,
            args: &words,
            sections: &[],
        };
        device.launch_async(kernel, &launch)?;
        report::describe(self.inputs.group, || device.describe(kernel, &launch));
        self.last = Some(phase);
        for piece in added {
            self.stale[piece] = true;
        }
        let pieces = &self.inputs.launch_inputs.pieces;
        match self.changes.get(phase) {
            Some(Some(changes)) => {
                for &piece in changes {
                    self.stale[piece] = true;
                }
            }
            _ => {
                for (stale, piece) in self.stale.iter_mut().zip(pieces) {
                    *stale |= piece.write;
                }
            }
        }
        Ok(())
    }
}
