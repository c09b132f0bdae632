//! Runs a region on a device: maps the memory that its arguments lead to, launches its kernels, and
//! copies results back.
//!
//! Blocks with pages of their own stay on the device ([`super::residency`]). All other memory is
//! gathered in one buffer, the [`frame`], which is copied to the device before the kernel and back
//! after it. The host's memory changes only after all kernels have succeeded.
//!
//! [`launch_inputs`] finds what a run uses, and [`snapshots`] undoes what a failed kernel did. Steps
//! of the host between kernels are left to [`schedule`].

use super::frame::{self, FramePiece};
use super::heap::Block;
use super::launch_inputs::{self, LaunchInputs};
use super::residency::{self, Adding, Objects, Traffic};
use super::schedule::{self, Frame, ScheduleInputs};
use super::{Region, RegionPlan, changes, in_use, scratch, snapshots};
use ompvm_kmpc::hooks;
use ompvm_llvm::kernelize::LoopKernel;
use ompvm_offload::device::{Failure, Kernel, Launch, Queue};
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
    let mut inputs = unsafe { launch_inputs::collect(region, plan, start, &mut objects) }
        .map_err(LaunchError::Memory)?;
    let mut own = private_variables(plan, &mut inputs);
    let trips: Vec<Option<u64>> = inputs.bounds.iter().map(launch_inputs::count).collect();
    if plan.schedule.is_none() && trips.iter().all(|&n| n == Some(0)) {
        return Err(LaunchError::Memory("it has no iterations".into()));
    }
    let _adding = Adding::new();
    for resident in &inputs.residents {
        let Block { start, size, .. } = resident.block;
        in_use::claim(start, size).map_err(|in_use::Occupied| {
            LaunchError::Memory("a system call of another thread uses its memory".into())
        })?;
    }
    make_resident(region, state, &inputs, &mut objects)?;
    let mut traffic = Traffic::default();
    let (size, frame) = frame::lay_out(state, &mut inputs.pieces)?;
    let Some(mut bytes) = frame::gather(&inputs.pieces, size) else {
        return Err(LaunchError::Memory("it uses unmapped memory".into()));
    };
    frame::upload(state, frame, &bytes, &mut traffic)?;
    let words = launch_inputs::argument_words(frame, &inputs, &mut objects);
    let mut words = words.map_err(LaunchError::Memory)?;
    let snapshots = snapshots::save(state, &inputs.residents, &mut objects)?;
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
        snapshots::restore(state, &inputs.residents, &snapshots, &mut objects);
        return Err(LaunchError::Device(failure));
    }
    snapshots::free(state, &snapshots);
    for resident in inputs.residents.iter().filter(|r| r.write) {
        objects.mark_written(resident.block.start, region.policy.copy_back_time());
    }
    if plan.schedule.is_none() {
        frame::download(state, frame, &mut bytes[..front], &mut traffic)?;
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
