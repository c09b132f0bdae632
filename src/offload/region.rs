//! The entries that compilers emit for `target` regions, and those by which they announce device code.
//! OpenMP 5.2, section 13.8.
//!
//! A region maps its data, launches its kernel and unmaps the data. The result of the entry tells
//! the program whether to run its host version; [`fallback`] decides that.
//! [`arguments`] makes the kernel's argument words. Constructs that only move data are in
//! [`data_entries`](super::data_entries).

mod arguments;

use super::device::{Device, Failure, Kernel, Launch, Queue, Section};
use super::devices::{self, DeviceState};
use super::fallback::{self, ConstructSite};
use super::map::data::{DataConstruct, Entered, Traffic};
use super::map::items::{self, MapArrays, MapItem};
use super::map::{map_type, names};
use super::{program, report};
use ompvm_kmpc::icv::settings;
use ompvm_kmpc::ident::Ident;
use ompvm_support::log;
use std::ffi::c_void;
use std::time::{Duration, Instant};

/// The launch arguments of a region (`KernelArgsTy`), version 3.
#[repr(C)]
#[derive(Debug)]
pub struct KernelArguments {
    version: u32,
    count: u32,
    bases: *mut usize,
    begins: *const usize,
    sizes: *const i64,
    map_types: *const u64,
    names: *const c_void,
    mappers: *const usize,
    trip: u64,
    flags: u64,
    teams: [u32; 3],
    threads: [u32; 3],
    shared: u32,
}

/// Result of `__tgt_target_kernel`: the region did not run on a device.
const RUN_ON_HOST: i32 = -1;
/// Result of `__tgt_target_kernel`: the region has run.
const COMPLETED: i32 = 0;

/// `__tgt_target_kernel`.
pub unsafe extern "C-unwind" fn target_kernel(
    ident: *const Ident,
    device: i64,
    teams: i32,
    threads: i32,
    region: *mut c_void,
    arguments: *mut c_void,
) -> i32 {
    let site = ConstructSite::of_region(ident, region as usize);
    let state = match fallback::device_for(device) {
        Ok(state) => state,
        Err(why) => {
            fallback::record_host_run(site, &why);
            return RUN_ON_HOST;
        }
    };
    // SAFETY: the ABI passes a `KernelArguments` that is live during the call.
    let arguments = unsafe { &*arguments.cast::<KernelArguments>() };
    let Some((program, entry)) = program::find_entry(region as usize) else {
        fallback::record_host_run(
            site,
            &"the program has no device code for it".to_owned().into(),
        );
        return RUN_ON_HOST;
    };
    let loaded = state.load_all().and_then(|()| state.load(&program));
    let kernel = loaded.and_then(|l| l.kernel(&program, entry));
    let kernel = match kernel {
        Ok(kernel) => kernel,
        Err(failure) => {
            let why = fallback::handle_failure(site, Some(state), &failure);
            fallback::record_host_run(site, &why);
            // SAFETY: the arrays of `arguments` are those that the compiler passed.
            unsafe { state.lend_to_host(&items::collect(&map_arrays(arguments))) };
            return RUN_ON_HOST;
        }
    };
    // 0 means unspecified. A region without `teams` passes -1, which means one team.
    let first = |a: u32, b: i32| match if a == 0 { b } else { a as i32 } {
        n if n < 0 => 1,
        n => n as u32,
    };
    let shape = (
        first(arguments.teams[0], teams),
        first(arguments.threads[0], threads),
    );
    let shape = apply_limits(&*state.device, shape);
    // SAFETY: the arrays of `arguments` are those that the compiler passed.
    match unsafe { run_kernel(site, state, &kernel, arguments, shape) } {
        Ok(()) => COMPLETED,
        Err(failure) => {
            let why = fallback::handle_failure(site, Some(state), &failure);
            fallback::record_host_run(site, &why);
            // SAFETY: the arrays of `arguments` are those that the compiler passed.
            unsafe { state.lend_to_host(&items::collect(&map_arrays(arguments))) };
            RUN_ON_HOST
        }
    }
}

/// Returns the arrays of a region's items.
fn map_arrays(arguments: &KernelArguments) -> MapArrays {
    MapArrays {
        count: arguments.count as usize,
        bases: arguments.bases,
        begins: arguments.begins,
        sizes: arguments.sizes,
        map_types: arguments.map_types,
        mappers: arguments.mappers,
    }
}

/// Applies `OMP_NUM_TEAMS` and `OMP_TEAMS_THREAD_LIMIT` to what the program leaves unspecified.
fn apply_limits(device: &dyn Device, (teams, threads): (u32, u32)) -> (u32, u32) {
    let settings = settings();
    let limit = match settings.teams_thread_limit {
        0 => 0,
        limit => limit.min(device.limits().default_threads),
    };
    let given = |value: u32, otherwise: u32| if value == 0 { otherwise } else { value };
    (given(teams, settings.num_teams), given(threads, limit))
}

/// Maps the data of a region, launches its kernel, and unmaps the data.
///
/// # Safety
/// `arguments` must hold the arrays of the compiler, whose items must be live host memory.
unsafe fn run_kernel(
    site: ConstructSite,
    state: &DeviceState,
    kernel: &Kernel,
    arguments: &KernelArguments,
    (teams, threads): (u32, u32),
) -> super::device::Result<()> {
    let since = Instant::now();
    let arrays = map_arrays(arguments);
    let device = &*state.device;
    // SAFETY: by this function's contract, the arrays have `count` elements.
    let items = unsafe { items::collect(&arrays) };
    let mut traffic = Traffic::default();
    let mut words = Vec::with_capacity(arrays.count + 1);
    let mut sections = Vec::with_capacity(arrays.count + 1);
    words.push(0);
    sections.push(Section::default());
    let mut private_copies = Vec::new();
    let references = {
        let mut table = state.table.lock();
        // SAFETY: by this function's contract, the arrays have `count` elements.
        let results = unsafe { arguments::results(&arrays, device, kernel, &items) };
        let mut data = DataConstruct::of_region(device, &mut table, results);
        // SAFETY: by this function's contract, the items are live host memory.
        let entered = unsafe {
            data.enter(&items, arrays.bases).and_then(|()| {
                let words = (&mut words, &mut sections);
                arguments::kernel_words(&arrays, &mut data, words, &mut private_copies)
            })
        };
        let references = data.take_entered();
        if let Err(failure) = entered {
            data.undo(references);
            arguments::free_private_copies(state, &private_copies);
            return Err(failure);
        }
        traffic.add(data.traffic);
        references
    };
    let (blocks, threads) = device.shape(kernel, teams, threads, arguments.trip);
    let [_, blocks_y, blocks_z] = arguments.teams.map(dimension);
    let [_, threads_y, threads_z] = arguments.threads.map(dimension);
    let launch = Launch {
        blocks: [blocks, blocks_y, blocks_z],
        threads: [threads, threads_y, threads_z],
        shared: arguments.shared,
        args: &words,
        sections: &sections,
    };
    let started = Instant::now();
    if let Err(failure) = device.launch_async(kernel, &launch) {
        give_up(state, references, &failure);
        arguments::free_private_copies(state, &private_copies);
        return Err(failure);
    }
    let mut group = None;
    report::describe(&mut group, || device.describe(kernel, &launch));
    // SAFETY: by this function's contract, the items are live host memory.
    let finished = unsafe { finish(state, kernel, &items, started, &mut traffic) };
    let kernel_time = match finished {
        Ok(time) => time,
        // A device may report a failed launch only when it is waited for.
        Err(Unfinished::Launched(failure)) => {
            give_up(state, references, &failure);
            arguments::free_private_copies(state, &private_copies);
            return Err(failure);
        }
        Err(Unfinished::Computed(failure, overwritten)) => {
            if overwritten {
                fallback::end_without_data(state, &failure);
            }
            give_up(state, references, &failure);
            return Err(failure);
        }
    };
    arguments::free_private_copies(state, &private_copies);
    devices::add_kernel_time(Duration::from_nanos(kernel_time));
    let whole = since.elapsed().as_nanos() as u64;
    let rest = whole.saturating_sub(kernel_time + traffic.time);
    tracing::trace!(
        target: log::OFFLOAD,
        region = %site.location(),
        number = state.number,
        blocks = ?launch.blocks,
        threads = ?launch.threads,
        to = traffic.to,
        from = traffic.from,
        kernel_ms = %log::ms(Duration::from_nanos(kernel_time)),
        transfer_ms = %log::ms(Duration::from_nanos(traffic.time)),
        launch_ms = %log::ms(Duration::from_nanos(rest)),
        "ran a target region"
    );
    if let Some(group) = &mut group {
        // SAFETY: by this function's contract.
        unsafe { names::add_names(group, arguments.names, &arrays) };
    }
    fallback::record_device_run(site, state, traffic, (kernel_time, rest), group);
    Ok(())
}

/// Reason why a launched region has not been finished.
enum Unfinished {
    /// Its kernel failed.
    Launched(Failure),
    /// A copy of its results failed, and true if others may have replaced what it read.
    Computed(Failure, bool),
}

/// Gives the references of a region back that failed. The host executes it, so the device's copies
/// must not count as current.
fn give_up(state: &DeviceState, references: Entered, failure: &Failure) {
    let mut table = state.table.lock();
    let mut data = DataConstruct::new(&*state.device, &mut table, Queue::SYNC);
    match failure {
        // A lost device may have executed a part of it.
        Failure::Lost(_) => data.undo_interrupted(references),
        _ => data.undo(references),
    }
}

/// Waits for a launched kernel and unmaps its data, which brings its results to the host. Returns
/// the kernel's time in nanoseconds.
///
/// # Errors
/// The failure.
///
/// # Safety
/// The items must be those of the launch, and live host memory.
unsafe fn finish(
    state: &DeviceState,
    kernel: &Kernel,
    items: &[MapItem],
    started: Instant,
    traffic: &mut Traffic,
) -> std::result::Result<u64, Unfinished> {
    let device = &*state.device;
    // Small results are copied behind the kernel, so a single wait suffices.
    let back = items
        .iter()
        .any(|i| i.is(map_type::FROM) && !i.is_private());
    let buffer = if back { device.lend_staging() } else { None };
    let staged = buffer.map(|buffer| {
        let mut table = state.table.lock();
        // SAFETY: the buffer is returned only after `finish` and `leave`.
        unsafe { DataConstruct::new(device, &mut table, Queue::SYNC).fetch(items, buffer.as_ptr()) }
    });
    let finished = device.await_launch(kernel);
    let kernel_time = started.elapsed().as_nanos() as u64;
    let staged = staged.transpose().map(Option::unwrap_or_default);
    let left = match finished {
        Err(failure) => Err(Unfinished::Launched(failure)),
        Ok(()) => staged
            .map_err(|failure| Unfinished::Computed(failure, false))
            .and_then(|staged| {
                let mut table = state.table.lock();
                let mut data = DataConstruct::new(device, &mut table, Queue::SYNC);
                data = data.with_staged(staged);
                // SAFETY: by this function's contract, the items are live host memory.
                let left = unsafe { data.leave(items) };
                traffic.add(data.traffic);
                left.map_err(|failure| Unfinished::Computed(failure, data.overwritten))
            }),
    };
    if let Some(buffer) = buffer {
        device.return_staging(buffer);
    }
    left.map(|()| kernel_time)
}

fn dimension(n: u32) -> u32 {
    if n as i32 > 0 { n } else { 1 }
}

/// `__tgt_register_requires`: does nothing; requirements come from the offload entries.
pub unsafe extern "C-unwind" fn register_requires(_bits: i64) {}

/// `__tgt_register_lib`, `__tgt_unregister_lib`: do nothing; the loader registers programs.
pub unsafe extern "C-unwind" fn register_library(_library: *mut c_void) {}

/// `__tgt_init_all_rtls`, `__tgt_rtl_init`: do nothing; devices are discovered on first use.
pub unsafe extern "C-unwind" fn no_op() {}
