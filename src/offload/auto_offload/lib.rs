//! Auto-offload: runs parallel loops of programs without `target` constructs on a device.
//!
//! [`register`] registers a program's parallel regions with its mode, for which
//! `llvm::kernelize` makes kernels; the runtime offers each region that starts to [`try_offload`].
//! [`launch`] looks the region's memory up in the tables of [`heap`], lets [`residency`] copy it to
//! the device, and launches the kernel. The data stays on the device; the host's pages are
//! protected meanwhile, and an access copies them back. [`wrappers`] wraps C library functions for
//! which page protection is not enough. [`schedule`] interprets the host schedule between several
//! kernels. In `auto` mode [`policy`] decides where a region runs, by the rules of [`decision`],
//! and [`preparation`] decides when kernels are made.
//!
//! After a failed kernel the region runs on the host with its original data.
//!
//! This crate uses the devices and the report of `ompvm-offload`. Three hooks lead here from below,
//! all set by [`register`]: the runtime's for regions that start
//! ([`hooks::set_region_interceptor`]), the signal handlers' for faults on protected pages
//! ([`signals::set_restore_hook`]), and that of [`host_access`] for copies by drivers. A program
//! without auto-offload sets none of them.
//!
//! Pointers stored in memory that lead to further data are not followed, and only one device is
//! used.

mod changes;
mod decision;
mod frame;
pub mod heap;
mod in_use;
mod launch;
mod launch_inputs;
mod locals;
mod policy;
mod preparation;
mod probe;
mod residency;
mod schedule;
mod scratch;
mod snapshots;
mod wrappers;

use hashbrown::HashMap;
use ompvm_cache::CacheEntry;
use ompvm_kmpc::hooks;
use ompvm_kmpc::ident;
use ompvm_llvm::Input;
use ompvm_llvm::kernelize::{Kernelized, RegionPlan, kernelize};
use ompvm_memory::{func, signals};
use ompvm_offload::device::{DeviceCode, Failure, Image, Kernel};
use ompvm_offload::devices::{self, DeviceState};
use ompvm_offload::options::OffloadOptions;
use ompvm_offload::{host_access, report};
use ompvm_support::log;
pub use ompvm_support::settings::OffloadMode as Mode;
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
pub use wrappers::overrides;

/// Auto-offload in a process: the programs with regions for devices, their memory, and the time
/// that their regions took.
struct AutoOffload {
    /// Regions by the address of their outlined function.
    regions: RwLock<Option<HashMap<usize, Arc<Region>>>>,
    /// Programs without kernels, for the report.
    failed: Mutex<Vec<Arc<Program>>>,
    /// Number of the next program.
    next_program: AtomicU64,
    /// True once a program handles access faults itself.
    disabled: AtomicBool,
    /// Number of programs in the mode [`Mode::Force`].
    forced_programs: AtomicUsize,
    heap: heap::Blocks,
    residency: residency::Residency,
    preparation: preparation::Preparation,
    policy: policy::Measurements,
}

/// Auto-offload in this process. The runtime offers regions and the C library allocates blocks
/// without a program: addresses tell to which one they belong.
static AUTO_OFFLOAD: AutoOffload = AutoOffload {
    regions: RwLock::new(None),
    failed: Mutex::new(Vec::new()),
    next_program: AtomicU64::new(0),
    disabled: AtomicBool::new(false),
    forced_programs: AtomicUsize::new(0),
    heap: heap::Blocks::new(),
    residency: residency::Residency::new(),
    preparation: preparation::Preparation::new(),
    policy: policy::Measurements::new(),
};

/// A parallel region that may run on a device.
#[derive(Debug)]
struct Region {
    program: Arc<Program>,
    /// Name of its outlined function.
    name: String,
    plan: Result<RegionPlan, String>,
    policy: policy::PolicyState,
    /// Reason why the device has rejected the kernel.
    refused: Mutex<Option<String>>,
}

/// A program and its regions.
#[derive(Debug)]
struct Program {
    id: u64,
    name: String,
    options: OffloadOptions,
    files: Vec<Input>,
    /// Function addresses by name.
    functions: HashMap<String, usize>,
    /// Variable addresses and sizes by name.
    variables: HashMap<String, (usize, usize)>,
    /// Addresses of constants by name.
    constants: HashMap<String, usize>,
    outlined: OnceLock<Result<Kernelized, String>>,
    loaded: OnceLock<Result<Loaded, Failure>>,
    /// True if the device is started and the kernels are loaded (`auto` mode).
    prepared: AtomicBool,
}

/// Kernels of a program, loaded on the device.
#[derive(Debug)]
struct Loaded {
    image: Box<dyn Image>,
    kernels: Mutex<HashMap<String, Option<Kernel>>>,
}

/// The parts of a program that its regions may refer to.
#[derive(Debug, Default)]
pub struct ProgramParts {
    /// Program name.
    pub name: String,
    /// Names and contents of its bitcode files.
    pub files: Vec<(String, Vec<u8>)>,
    /// Function addresses by name.
    pub functions: Vec<(String, usize)>,
    /// Variable addresses and sizes by name.
    pub variables: Vec<(String, usize, usize)>,
    /// Addresses of constants by name.
    pub constants: Vec<(String, usize)>,
}

/// Keeps a program's regions registered until it is dropped.
#[derive(Debug)]
pub struct Registration(Arc<Program>);

/// Registers a program whose image is in memory. Returns `None` if auto-offload is off, for
/// this program or since a program handles access faults itself.
pub fn register(contents: ProgramParts, options: &OffloadOptions) -> Option<Registration> {
    match options.mode {
        Mode::Off => return None,
        _ if AUTO_OFFLOAD.disabled.load(Ordering::Acquire) => return None,
        Mode::Auto => {}
        Mode::Force => {
            heap::track_small();
            AUTO_OFFLOAD.forced_programs.fetch_add(1, Ordering::Relaxed);
        }
    }
    let files = contents.files.into_iter();
    let program = Arc::new(Program {
        id: AUTO_OFFLOAD.next_program.fetch_add(1, Ordering::Relaxed),
        name: contents.name,
        options: options.clone(),
        files: files.map(|(name, bytes)| Input { name, bytes }).collect(),
        functions: contents.functions.into_iter().collect(),
        variables: contents
            .variables
            .into_iter()
            .map(|(name, at, size)| (name, (at, size)))
            .collect(),
        constants: contents.constants.into_iter().collect(),
        outlined: OnceLock::new(),
        loaded: OnceLock::new(),
        prepared: AtomicBool::new(false),
    });
    for &(start, size) in program.variables.values() {
        heap::add(start, size, heap::BlockKind::Variable);
    }
    devices::expect(|| program.cache_entry());
    signals::set_restore_hook(residency::handle_fault);
    in_use::watch_forks();
    host_access::set_hooks(begin_copy, in_use::end);
    hooks::set_region_interceptor(try_offload);
    if program.is_auto() {
        preparation::start_observing(&program);
    } else {
        program.prepare(&|_| policy::PolicyState::default());
    }
    Some(Registration(program))
}

/// Makes memory accessible to a copy of a driver, until the result is passed to [`in_use::end`].
fn begin_copy(start: usize, size: usize, write: bool) -> Option<u64> {
    in_use::begin(start, size, write, in_use::Purpose::Copy)
}

impl Drop for Registration {
    fn drop(&mut self) {
        residency::copy_all_to_host();
        devices::record_run();
        if self.0.is_auto() {
            preparation::stop_observing(&self.0);
        } else {
            AUTO_OFFLOAD.forced_programs.fetch_sub(1, Ordering::Relaxed);
        }
        for &(start, _) in self.0.variables.values() {
            heap::remove(start);
        }
        let mut failed = AUTO_OFFLOAD.failed.lock();
        failed.retain(|program| !Arc::ptr_eq(program, &self.0));
        if let Some(regions) = &mut *AUTO_OFFLOAD.regions.write() {
            regions.retain(|_, r| r.program.id != self.0.id);
        }
    }
}

/// Name of the kernels in a cache entry.
const KERNELS_ENTRY: &str = "auto-offload";

/// Returns the kernels of a program's regions, from the cache if possible.
fn outlined(program: &Program) -> Result<Kernelized, String> {
    let cache_entry = program.cache_entry();
    if let Some(cache_entry) = &cache_entry
        && let Some(bytes) = cache_entry.bytes(KERNELS_ENTRY)
        && let Ok(outlined) = postcard::from_bytes(&bytes)
    {
        return Ok(outlined);
    }
    let outlined = kernelize(&program.files)?;
    if let Some(cache_entry) = &cache_entry
        && let Ok(bytes) = postcard::to_allocvec(&outlined)
    {
        cache_entry.put_bytes(KERNELS_ENTRY, &bytes);
    }
    Ok(outlined)
}

impl Program {
    /// Returns the program's cache entry, if its engine has a cache.
    fn cache_entry(&self) -> Option<CacheEntry> {
        let pieces = self.files.iter().map(|f| &*f.bytes);
        let pieces = pieces.chain([KERNELS_ENTRY.as_bytes()]);
        self.options.cache_entry(pieces)
    }

    /// Returns true if measurements decide where its regions run.
    fn is_auto(&self) -> bool {
        self.options.mode == Mode::Auto
    }

    /// Makes the kernels and registers the regions; `known` returns the initial policy state of a
    /// function's region.
    fn prepare(self: &Arc<Program>, known: &dyn Fn(&str) -> policy::PolicyState) {
        let outlined = self.outlined.get_or_init(|| outlined(self));
        let regions = match outlined {
            Ok(outlined) => &outlined.regions,
            Err(why) => {
                ompvm_support::message!(Note, "no region runs on a device: {why}");
                AUTO_OFFLOAD.failed.lock().push(self.clone());
                return;
            }
        };
        let mut table = AUTO_OFFLOAD.regions.write();
        let table = table.get_or_insert_default();
        for region in regions {
            let Some(&address) = self.functions.get(&region.function) else {
                continue;
            };
            let plan = region.verdict.clone().map_err(|refusal| {
                let at = refusal.place.map_or(String::new(), |p| format!(" at {p}"));
                format!("{}{at}", refusal.reason)
            });
            tracing::debug!(
                target: log::OFFLOAD,
                function = region.function,
                kernels = plan.as_ref().ok().map(|plan| plan.phases.len()),
                why = plan.as_ref().err(),
                "examined a region for auto-offload"
            );
            let region = Region {
                program: self.clone(),
                plan,
                policy: known(&region.function),
                name: region.function.clone(),
                refused: Mutex::default(),
            };
            table.insert(address, Arc::new(region));
        }
    }

    /// Returns true if the kernels are loaded on the device.
    fn is_prepared(&self) -> bool {
        self.prepared.load(Ordering::Acquire)
    }

    /// Returns the size of its bitcode in bytes.
    fn bytes(&self) -> usize {
        self.files.iter().map(|f| f.bytes.len()).sum()
    }

    /// Returns the kernels loaded on a device. The first call compiles and loads them.
    fn load(&self, state: &DeviceState) -> Result<&Loaded, Failure> {
        let loaded = self.loaded.get_or_init(|| {
            let Some(Ok(outlined)) = self.outlined.get() else {
                return Err(Failure::Image("it has no kernels".into()));
            };
            let code = DeviceCode {
                units: vec![outlined.unit.clone()],
                arch: "sm_70".into(),
                name: format!("the regions of {}", self.name),
                teams: 0,
                divided: false,
                options: self.options.clone(),
            };
            let since = Instant::now();
            let image = state.load_code(code)?;
            tracing::debug!(
                target: log::OFFLOAD,
                program = self.name,
                number = state.number,
                ms = %log::ms(since.elapsed()),
                "loaded auto-offload kernels"
            );
            Ok(Loaded {
                image,
                kernels: Mutex::default(),
            })
        });
        loaded.as_ref().map_err(Failure::clone)
    }
}

impl Loaded {
    fn kernel(&self, name: &str) -> Option<Kernel> {
        let mut kernels = self.kernels.lock();
        *kernels
            .entry_ref(name)
            .or_insert_with(|| self.image.kernel(name))
    }
}

/// Returns the region of a function, unless it is unknown or its policy skips this run.
fn region_of(function: usize) -> Option<Arc<Region>> {
    let regions = AUTO_OFFLOAD.regions.read();
    let region = regions.as_ref()?.get(&function)?;
    (!region.policy.skips_run()).then(|| region.clone())
}

/// Returns the reason for which a function without a plan runs on the host; `None` if auto-offload
/// is off for its program.
fn reason_without_plan(function: usize) -> Option<String> {
    let failed = AUTO_OFFLOAD.failed.lock();
    let has = |program: &&Arc<Program>| program.functions.values().any(|&at| at == function);
    if let Some(program) = failed.iter().find(has) {
        return program.outlined.get()?.as_ref().err().cloned();
    }
    let native = func::from_address(function).is_none();
    native.then(|| "its function is in no bitcode file of the program".to_owned())
}

/// Runs a region that starts. Returns false if the host must run it.
///
/// # Safety
/// The region must be one that the runtime starts.
unsafe fn try_offload(start: &hooks::RegionStart) -> bool {
    preparation::wait_for_kernels(start);
    let Some(region) = region_of(start.microtask as usize) else {
        let forced = AUTO_OFFLOAD.forced_programs.load(Ordering::Relaxed) > 0;
        if forced
            && report::is_enabled()
            && let Some(why) = reason_without_plan(start.microtask as usize)
        {
            record_host_run(start, &why);
        }
        let should_time = preparation::should_time(start);
        if should_time {
            // SAFETY: by this function's contract.
            unsafe { preparation::run_and_time(start) };
        }
        return should_time;
    };
    if region.program.is_auto() {
        // SAFETY: by this function's contract.
        return unsafe { policy::run_region(&region, start) };
    }
    // SAFETY: by this function's contract.
    match unsafe { run_on_device(&region, start) } {
        Ok(_) => true,
        Err(why) => {
            record_host_run(start, &why);
            false
        }
    }
}

/// Runs a region on the device, or returns why it did not run there.
///
/// # Safety
/// The region must be one that the runtime starts.
unsafe fn run_on_device(
    region: &Region,
    start: &hooks::RegionStart,
) -> Result<launch::RunStatistics, String> {
    if let Some(why) = &*region.refused.lock() {
        return Err(why.clone());
    }
    let plan = region.plan.as_ref().map_err(String::clone)?;
    let state = ompvm_offload::fallback::device_for(-1).map_err(|why| why.to_string())?;
    // SAFETY: by this function's contract.
    let done = unsafe { launch::launch(region, plan, state, start) };
    match done {
        Ok(done) => {
            record_device_run(start, state, &done);
            Ok(done)
        }
        Err(launch::LaunchError::Memory(why)) => Err(why),
        Err(launch::LaunchError::Device(failure)) => {
            let why = format!("{}: {failure}", state.device.name());
            match failure {
                // The next attempt may find free memory or other data.
                Failure::OutOfMemory { .. } => {}
                Failure::Lost(_) => state.disable(&failure),
                _ => *region.refused.lock() = Some(why.clone()),
            }
            Err(why)
        }
    }
}

/// Returns the registered regions of a program with the names of their functions.
fn regions_of(program: &Arc<Program>) -> Vec<(String, Arc<Region>)> {
    let table = AUTO_OFFLOAD.regions.read();
    let regions = table.iter().flat_map(HashMap::values);
    regions
        .filter(|r| Arc::ptr_eq(&r.program, program))
        .map(|r| (r.name.clone(), r.clone()))
        .collect()
}

fn place(start: &hooks::RegionStart) -> String {
    // SAFETY: compilers pass a constant ident, or null.
    let place = unsafe { ident::describe(start.ident) };
    place.unwrap_or_else(|| "a parallel region at an unknown location".into())
}

fn record_host_run(start: &hooks::RegionStart, why: &str) {
    tracing::trace!(target: log::OFFLOAD, region = %place(start), why, "a loop runs on the host");
    if report::is_enabled() {
        let row = report::Row {
            runs: 1,
            host_reason: Some(why.to_owned()),
            ..report::Row::default()
        };
        report::add(&place(start), "the host", &row);
    }
}

fn record_device_run(
    start: &hooks::RegionStart,
    state: &DeviceState,
    done: &launch::RunStatistics,
) {
    devices::add_kernel_time(Duration::from_nanos(done.kernel));
    tracing::trace!(
        target: log::OFFLOAD,
        region = %place(start),
        number = state.number,
        to = done.to,
        from = done.from,
        kernel_ms = %log::ms(Duration::from_nanos(done.kernel)),
        transfer_ms = %log::ms(Duration::from_nanos(done.transfer)),
        launch_ms = %log::ms(Duration::from_nanos(done.rest)),
        "ran a loop on a device"
    );
    if report::is_enabled() {
        let row = report::Row {
            runs: 1,
            to: done.to,
            from: done.from,
            kernel: done.kernel,
            transfer: done.transfer,
            launch: done.rest,
            host_reason: None,
            group: done.group.clone(),
        };
        report::add(&place(start), &state.device.name(), &row);
    }
}
