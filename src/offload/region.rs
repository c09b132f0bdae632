//! The entries that compilers emit for `target` constructs. OpenMP 5.2, chapter 13.
//!
//! The result of a region's entry tells the program whether to run its host version, so a region
//! that cannot run on a device falls back to the host. A fault of the program on a device ends the
//! program with a report. So does every failure if `OMP_TARGET_OFFLOAD` is `mandatory`.

use super::device::{Device, Failure, Kernel, Launch, MemoryKind, Queue, Section};
use super::devices::{self, DeviceState};
use super::map::data::{DataConstruct, Traffic};
use super::map::items::{self, MapArrays, MapItem};
use super::map::table::MappingTable;
use super::map::{map_type, names};
use super::report::GroupRun;
use super::{program, report};
use ompvm_kmpc::icv::{TargetOffload, settings};
use ompvm_kmpc::ident::{self, Ident};
use ompvm_kmpc::{routines, task};
use ompvm_support::log;
use ompvm_support::message::{Kind, Message};
use std::ffi::c_void;
use std::fmt;
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

/// Source location of a construct, for messages.
#[derive(Clone, Copy, Debug)]
pub struct ConstructSite {
    ident: *const Ident,
    name: &'static str,
    /// Host address of the region's entry, which gives a location if `ident` has none (flang); 0
    /// for other constructs.
    region: usize,
}

impl ConstructSite {
    /// Describes a construct other than a region.
    pub fn new(ident: *const Ident, name: &'static str) -> ConstructSite {
        ConstructSite {
            ident,
            name,
            region: 0,
        }
    }

    fn known_location(&self) -> Option<String> {
        // SAFETY: compilers pass a constant ident, or null.
        let location = unsafe { ident::describe(self.ident) };
        location.or_else(|| program::source_location(self.region))
    }

    fn location(&self) -> String {
        self.known_location()
            .unwrap_or_else(|| format!("a {} at an unknown location", self.name))
    }
}

/// Reason why a construct does not run on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostReason {
    /// The program asks for the host: `device(omp_get_initial_device())`.
    Requested,
    /// Any other reason, in words.
    Other(String),
}

impl fmt::Display for HostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostReason::Requested => f.write_str("the program selects the host"),
            HostReason::Other(why) => f.write_str(why),
        }
    }
}

impl From<String> for HostReason {
    fn from(why: String) -> HostReason {
        HostReason::Other(why)
    }
}

/// Returns the device with the given number; -1 stands for the default device.
///
/// # Errors
/// The reason why the construct runs on the host.
pub fn device_for(number: i64) -> std::result::Result<&'static DeviceState, HostReason> {
    // SAFETY: the routine takes no arguments and reads a setting.
    let policy = unsafe { routines::get_target_offload() };
    if policy == TargetOffload::Disabled as i32 {
        return Err("OMP_TARGET_OFFLOAD is `disabled`".to_owned().into());
    }
    // -1 means that the construct has no `device` clause.
    let explicit = number != -1;
    let number = match number {
        // SAFETY: the routine takes no arguments and reads a setting.
        -1 => unsafe { routines::get_default_device() },
        n => i32::try_from(n).unwrap_or(i32::MAX),
    };
    match devices::get(number) {
        Some(state) => Ok(state),
        // Without devices, the initial device has number 0.
        None if explicit && number as usize == devices::all().len() => Err(HostReason::Requested),
        None if devices::all().is_empty() => Err("there is no device".to_owned().into()),
        None if devices::count() == 0 => Err(format!(
            "no device supports `{}`, which the program requires",
            missing_requirement(super::program::required())
        )
        .into()),
        None if number as usize == devices::all().len() => Err(HostReason::Requested),
        None if devices::all().get(number as usize).is_some() => {
            Err(format!("device {number} failed earlier").into())
        }
        None => Err(format!("there is no device {number}").into()),
    }
}

/// Names the requirement that no device fulfills.
fn missing_requirement(required: u64) -> &'static str {
    use super::program::requires;
    if required & requires::UNIFIED_SHARED_MEMORY != 0 {
        "unified_shared_memory"
    } else {
        "reverse_offload"
    }
}

fn is_mandatory() -> bool {
    // SAFETY: the routine takes no arguments and reads a setting.
    (unsafe { routines::get_target_offload() }) == TargetOffload::Mandatory as i32
}

/// Reports an error on a device and ends the program.
fn abort_with_report(kind: Kind, site: ConstructSite, message: &str) -> ! {
    // SAFETY: null flushes every stream, so earlier output of the program precedes the report.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    let location = site.known_location();
    let place = location.as_deref().unwrap_or("");
    let shown = location.as_deref().unwrap_or("an unknown location");
    Message::new(
        kind,
        &format_args!("{message}\n  in the {} at {shown}", site.name),
    )
    .region(site.name)
    .place(place)
    .signal(libc::SIGABRT)
    .print();
    ompvm_memory::signals::raise_trap(ompvm_support::error::TrapKind::Device, std::ptr::null())
}

/// Ends the program with a failure of its own work on a device.
pub fn abort_with_failure(failure: &Failure, what: &'static str) -> ! {
    abort_with_report(
        Kind::DeviceFailure,
        ConstructSite::new(std::ptr::null(), what),
        &failure.to_string(),
    )
}

/// Handles a failure: ends the program, or returns the reason for running on the host.
fn handle_failure(
    site: ConstructSite,
    state: Option<&DeviceState>,
    failure: &Failure,
) -> HostReason {
    tracing::info!(
        target: log::OFFLOAD,
        region = %site.location(),
        why = %failure,
        "a device failed",
    );
    let device = state.map_or_else(|| "a device".to_owned(), |s| s.device.name());
    if let Failure::Fault(_) = failure {
        abort_with_report(
            Kind::DeviceFault,
            site,
            &format!("the program failed on {device}: {failure}"),
        );
    }
    if is_mandatory() {
        let whose = state.map_or_else(String::new, |s| format!("{}: ", s.device.name()));
        abort_with_report(
            Kind::DeviceFailure,
            site,
            &format!("{whose}{failure}, and OMP_TARGET_OFFLOAD is `mandatory`"),
        );
    }
    if let Failure::Image(_) = failure {
        report_once(&failure.to_string());
    }
    // Other failures concern one program's code only, so the device stays enabled.
    if matches!(failure, Failure::OutOfMemory { .. } | Failure::Lost(_))
        && let Some(state) = state
    {
        state.disable();
    }
    failure.to_string().into()
}

/// Reports a damaged image once. Users would not look for it in the offload report.
fn report_once(what: &str) {
    report::tell_once(&format!(
        "{what}; target regions that need it run on the host"
    ));
}

/// Records that a construct runs on the host, or ends the program if offloading is mandatory.
fn record_host_run(site: ConstructSite, why: &HostReason) {
    if is_mandatory() && *why != HostReason::Requested {
        abort_with_report(
            Kind::DeviceFailure,
            site,
            &format!("OMP_TARGET_OFFLOAD is `mandatory`, but {why}"),
        );
    }
    tracing::debug!(
        target: log::OFFLOAD,
        region = %site.location(),
        why = %why,
        "a target construct runs on the host"
    );
    if report::is_enabled() {
        let row = report::Row {
            runs: 1,
            host_reason: Some(why.to_string()),
            ..report::Row::default()
        };
        report::add(&site.location(), "the host", &row);
    }
}

/// Records a run on a device; `times` are those of the kernel and of the rest, in nanoseconds.
fn record_device_run(
    site: ConstructSite,
    state: &DeviceState,
    traffic: Traffic,
    times: (u64, u64),
    group: Option<GroupRun>,
) {
    if report::is_enabled() {
        let row = report::Row {
            runs: 1,
            to: traffic.to,
            from: traffic.from,
            kernel: times.0,
            transfer: traffic.time,
            launch: times.1,
            host_reason: None,
            group,
        };
        report::add(&site.location(), &state.device.name(), &row);
    }
}

/// `__tgt_target_kernel`.
pub unsafe extern "C-unwind" fn target_kernel(
    ident: *const Ident,
    device: i64,
    teams: i32,
    threads: i32,
    region: *mut c_void,
    arguments: *mut c_void,
) -> i32 {
    let site = ConstructSite {
        region: region as usize,
        ..ConstructSite::new(ident, "target region")
    };
    let state = match device_for(device) {
        Ok(state) => state,
        Err(why) => {
            record_host_run(site, &why);
            return RUN_ON_HOST;
        }
    };
    // SAFETY: the ABI passes a `KernelArguments` that is live during the call.
    let arguments = unsafe { &*arguments.cast::<KernelArguments>() };
    let Some((program, entry)) = program::find_entry(region as usize) else {
        record_host_run(
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
            let why = handle_failure(site, None, &failure);
            record_host_run(site, &why);
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
            let why = handle_failure(site, Some(state), &failure);
            record_host_run(site, &why);
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
        let results = unsafe { results(&arrays, device, kernel, &items) };
        let mut data = DataConstruct::of_region(device, &mut table, results);
        // SAFETY: by this function's contract, the items are live host memory.
        let entered = unsafe {
            data.enter(&items, arrays.bases).and_then(|()| {
                let words = (&mut words, &mut sections);
                kernel_words(&arrays, &mut data, words, &mut private_copies)
            })
        };
        let references = data.take_entered();
        if let Err(failure) = entered {
            data.undo(references);
            free_private_copies(state, &private_copies);
            return Err(failure);
        }
        add_traffic(&mut traffic, data.traffic);
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
        // The region runs on the host, so the device's copies must not count as current.
        let mut table = state.table.lock();
        DataConstruct::new(device, &mut table, Queue::SYNC).undo(references);
        free_private_copies(state, &private_copies);
        return Err(failure);
    }
    let mut group = None;
    report::describe(&mut group, || device.describe(kernel, &launch));
    // SAFETY: by this function's contract, the items are live host memory.
    let finished = unsafe { finish(state, kernel, &items, started, &mut traffic) };
    let kernel_time = match finished {
        Ok(time) => time,
        Err((launched, failure)) => {
            if !launched {
                // As above: a device may report a failed launch only when it is waited for.
                let mut table = state.table.lock();
                DataConstruct::new(device, &mut table, Queue::SYNC).undo(references);
                free_private_copies(state, &private_copies);
            }
            return Err(failure);
        }
    };
    free_private_copies(state, &private_copies);
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
    record_device_run(site, state, traffic, (kernel_time, rest), group);
    Ok(())
}

/// Waits for a launched kernel and unmaps its data, which brings its results to the host. Returns
/// the kernel's time in nanoseconds.
///
/// # Errors
/// The failure, and whether it came after the kernel, when its data was being unmapped.
///
/// # Safety
/// The items must be those of the launch, and live host memory.
unsafe fn finish(
    state: &DeviceState,
    kernel: &Kernel,
    items: &[MapItem],
    started: Instant,
    traffic: &mut Traffic,
) -> std::result::Result<u64, (bool, Failure)> {
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
    let ran = finished.is_ok();
    let left = finished.and(staged).and_then(|staged| {
        let mut table = state.table.lock();
        let mut data = DataConstruct::new(device, &mut table, Queue::SYNC).with_staged(staged);
        // SAFETY: by this function's contract, the items are live host memory.
        unsafe { data.leave(items)? };
        add_traffic(traffic, data.traffic);
        Ok(())
    });
    if let Some(buffer) = buffer {
        device.return_staging(buffer);
    }
    left.map(|()| kernel_time).map_err(|failure| (ran, failure))
}

fn dimension(n: u32) -> u32 {
    if n as i32 > 0 { n } else { 1 }
}

fn add_traffic(sum: &mut Traffic, more: Traffic) {
    sum.to += more.to;
    sum.from += more.from;
    sum.time += more.time;
}

fn free_private_copies(state: &DeviceState, private_copies: &[u64]) {
    for &address in private_copies {
        // Freeing may fail only on a device that has failed, where nothing can be freed.
        let _ = state.device.free(address, MemoryKind::Device);
    }
}

/// Returns the indices of the items that the kernel accesses where its reduction ends, and whose
/// memory no other item leads to.
///
/// # Safety
/// `arrays` must be those of the compiler.
unsafe fn results(
    arrays: &MapArrays,
    device: &dyn Device,
    kernel: &Kernel,
    items: &[MapItem],
) -> Vec<usize> {
    if kernel.results == 0 || !device.accesses_host_blocks() {
        return Vec::new();
    }
    // SAFETY: by this function's contract, the arrays have `count` elements.
    let is_parameter =
        |&n: &usize| unsafe { *arrays.map_types.add(n) } & map_type::TARGET_PARAM != 0;
    // The launch environment is the first argument word.
    let parameters = (0..arrays.count).filter(is_parameter).zip(1..64);
    let results = parameters.filter(|(_, word)| kernel.results >> word & 1 != 0);
    let alone = |n: usize| {
        let Some(item) = items.iter().find(|item| item.index == Some(n)) else {
            return false;
        };
        let range = item.begin
            ..item
                .begin
                .saturating_add(usize::try_from(item.size).unwrap_or(0));
        let mut others = items.iter().filter(|other| other.index != Some(n));
        let apart = |other: &MapItem| {
            !range.contains(&other.begin) && !range.contains(&other.base) && !other.is_member()
        };
        let special = map_type::PTR_AND_OBJ | map_type::ATTACH | map_type::CLOSE;
        item.map_type & special == 0
            && item.is(map_type::FROM)
            && !item.is_private()
            && others.all(apart)
    };
    results.map(|(n, _)| n).filter(|&n| alone(n)).collect()
}

/// Appends the kernel's argument words, one for each item that is an argument, and the sections of
/// memory that they lead to, and allocates private copies.
///
/// # Safety
/// `arrays` must be those of the compiler.
unsafe fn kernel_words(
    arrays: &MapArrays,
    data: &mut DataConstruct<'_>,
    (words, sections): (&mut Vec<u64>, &mut Vec<Section>),
    private_copies: &mut Vec<u64>,
) -> super::device::Result<()> {
    for n in 0..arrays.count {
        // SAFETY: by this function's contract, the arrays have `count` elements.
        let (map_type, mut base, begin, size) = unsafe {
            (
                *arrays.map_types.add(n),
                *arrays.bases.add(n),
                *arrays.begins.add(n),
                usize::try_from(*arrays.sizes.add(n)).unwrap_or(0),
            )
        };
        let is = |bit: u64| map_type & bit != 0;
        if !is(map_type::TARGET_PARAM) {
            continue;
        }
        if is(map_type::LITERAL) {
            words.push(base as u64);
            sections.push(Section {
                start: base as u64,
                size: 0,
            });
            continue;
        }
        if is(map_type::PRIVATE) {
            let copy = data
                .device
                .alloc(size.max(1) as u64, 64, MemoryKind::Device)?;
            private_copies.push(copy);
            if is(map_type::TO) && size > 0 {
                // SAFETY: a private item is a variable of the program with `size` bytes.
                unsafe {
                    data.device
                        .upload(data.queue, copy, begin as *const u8, size)?
                };
                data.traffic.to += size as u64;
            }
            words.push(copy.wrapping_sub((begin as u64).wrapping_sub(base as u64)));
            sections.push(Section {
                start: copy,
                size: size as u64,
            });
            continue;
        }
        if is(map_type::PTR_AND_OBJ) {
            // SAFETY: the base of a `PTR_AND_OBJ` item is the address of a pointer.
            base = unsafe { *(base as *const usize) };
        }
        let delta = (begin as u64).wrapping_sub(base as u64);
        let there = data
            .table
            .translate(begin, if is(map_type::IMPLICIT) { 0 } else { size });
        let there = there.or_else(|| data.table.translate(begin, 0));
        // If the range is not mapped, the pointer keeps its value (OpenMP 5.2, section 5.8.6).
        words.push(there.map_or(base as u64, |device| device.wrapping_sub(delta)));
        sections.push(Section {
            start: there.unwrap_or(base as u64),
            size: size as u64,
        });
    }
    Ok(())
}

/// Operation of a data construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataOperation {
    Enter,
    Leave,
    Update,
}

unsafe fn data_construct(
    ident: *const Ident,
    name: &'static str,
    device: i64,
    arrays: MapArrays,
    operation: DataOperation,
) {
    let site = ConstructSite::new(ident, name);
    let state = match device_for(device) {
        Ok(state) => state,
        Err(why) => {
            if is_mandatory() {
                record_host_run(site, &why);
            }
            return;
        }
    };
    if let Err(failure) = state.load_all() {
        // All regions run on the host, so no data is mapped.
        let why = handle_failure(site, None, &failure);
        record_host_run(site, &why);
        return;
    }
    // SAFETY: the ABI passes arrays of `count` elements.
    let items: Vec<MapItem> = unsafe { items::collect(&arrays) };
    let mut table: parking_lot::MutexGuard<'_, MappingTable> = state.table.lock();
    let mut data = DataConstruct::new(&*state.device, &mut table, Queue::SYNC);
    // SAFETY: the items are live host memory: the program maps them.
    let done = unsafe {
        match operation {
            DataOperation::Enter => data.enter(&items, arrays.bases),
            DataOperation::Leave => data.leave(&items),
            DataOperation::Update => data.update(&items),
        }
    };
    let traffic = data.traffic;
    match done {
        Ok(()) => {
            drop(table);
            record_device_run(site, state, traffic, (0, 0), None);
        }
        Err(failure) => {
            if operation == DataOperation::Enter {
                let references = data.take_entered();
                data.undo(references);
            }
            drop(table);
            // Skipping a copy would leave stale data, so the program ends.
            if operation != DataOperation::Enter && matches!(failure, Failure::Unsupported { .. }) {
                abort_with_report(Kind::DeviceFailure, site, &failure.to_string());
            }
            let why = handle_failure(site, Some(state), &failure);
            record_host_run(site, &why);
        }
    }
}

macro_rules! data_entries {
    ($($doc:literal $name:ident, $nowait:ident, $old:ident, $old_nowait:ident = $what:literal, $step:expr;)*) => {
        $(
            #[doc = $doc]
            pub unsafe extern "C-unwind" fn $name(
                ident: *const Ident,
                device: i64,
                count: i32,
                bases: *mut c_void,
                begins: *mut c_void,
                sizes: *mut c_void,
                map_types: *mut c_void,
                _names: *mut c_void,
                mappers: *mut c_void,
            ) {
                let arrays = MapArrays {
                    count: count.max(0) as usize,
                    bases: bases.cast(),
                    begins: begins.cast(),
                    sizes: sizes.cast(),
                    map_types: map_types.cast(),
                    mappers: mappers.cast(),
                };
                // SAFETY: the arguments are those of the compiler's call, unchanged.
                unsafe { data_construct(ident, $what, device, arrays, $step) };
            }

            #[doc = concat!($doc, " Runs synchronously; an enclosing task waits.")]
            pub unsafe extern "C-unwind" fn $nowait(
                ident: *const Ident,
                device: i64,
                count: i32,
                bases: *mut c_void,
                begins: *mut c_void,
                sizes: *mut c_void,
                map_types: *mut c_void,
                names: *mut c_void,
                mappers: *mut c_void,
                _dependences: i32,
                _list: *mut c_void,
                _others: i32,
                _other_list: *mut c_void,
            ) {
                // SAFETY: the arguments are those of the compiler's call, unchanged.
                unsafe {
                    $name(ident, device, count, bases, begins, sizes, map_types, names, mappers)
                };
            }

            #[doc = concat!($doc, " Emitted by compilers before version 12.")]
            pub unsafe extern "C-unwind" fn $old(
                device: i64,
                count: i32,
                bases: *mut c_void,
                begins: *mut c_void,
                sizes: *mut c_void,
                map_types: *mut c_void,
            ) {
                let (ident, none) = (std::ptr::null(), std::ptr::null_mut());
                // SAFETY: the arguments are those of the compiler's call; the arrays that it lacks
                // are null.
                unsafe {
                    $name(ident, device, count, bases, begins, sizes, map_types, none, none)
                };
            }

            #[doc = concat!($doc, " Emitted by compilers before version 12.")]
            pub unsafe extern "C-unwind" fn $old_nowait(
                device: i64,
                count: i32,
                bases: *mut c_void,
                begins: *mut c_void,
                sizes: *mut c_void,
                map_types: *mut c_void,
                _dependences: i32,
                _list: *mut c_void,
                _others: i32,
                _other_list: *mut c_void,
            ) {
                // SAFETY: the arguments are those of the compiler's call, unchanged.
                unsafe { $old(device, count, bases, begins, sizes, map_types) };
            }
        )*
    };
}

data_entries! {
    "`__tgt_target_data_begin_mapper`."
        enter, enter_nowait, enter_old, enter_nowait_old = "target data construct", DataOperation::Enter;
    "`__tgt_target_data_end_mapper`."
        leave, leave_nowait, leave_old, leave_nowait_old = "target data construct", DataOperation::Leave;
    "`__tgt_target_data_update_mapper`."
        update, update_nowait, update_old, update_nowait_old = "target update construct", DataOperation::Update;
}

/// `__tgt_target_nowait_query`: reports completion, since regions run synchronously.
pub unsafe extern "C-unwind" fn query(handle: *mut *mut c_void) {
    // SAFETY: the compiler passes its own variable, or null.
    if let Some(handle) = unsafe { handle.as_mut() } {
        *handle = std::ptr::null_mut();
    }
}

/// `__tgt_register_requires`: does nothing; requirements come from the offload entries.
pub unsafe extern "C-unwind" fn register_requires(_bits: i64) {}

/// `__tgt_register_lib`, `__tgt_unregister_lib`: do nothing; the loader registers programs.
pub unsafe extern "C-unwind" fn register_library(_library: *mut c_void) {}

/// `__tgt_init_all_rtls`, `__tgt_rtl_init`: do nothing; devices are discovered on first use.
pub unsafe extern "C-unwind" fn no_op() {}

/// Waits for the dependences of an asynchronous routine.
///
/// # Safety
/// `list` must hold `count` objects of type `omp_depend_t` that the program initialized.
pub unsafe fn await_dependences(count: i32, list: *mut c_void) {
    for n in 0..count.max(0) as usize {
        // SAFETY: by this function's contract; each object points to an array that its length
        // precedes.
        unsafe {
            let items = *list.cast::<*const task::depend::Item>().add(n);
            if items.is_null() {
                continue;
            }
            let count = *items.cast::<usize>().sub(3) as i32;
            let ident = std::ptr::null();
            let gtid = ompvm_kmpc::queries::global_thread_num(ident);
            task::depend::taskwait(ident, gtid, count, items, 0, std::ptr::null(), 0);
        }
    }
}
