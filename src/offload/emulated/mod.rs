//! A device without hardware: GPU code runs on the processor, in an address space of its own.
//!
//! Programs with `target` regions can be tested without a GPU, and errors that a GPU does not
//! report are diagnosed: accesses to memory that is unmapped, freed or out of bounds, with their
//! source line; deadlocks of threads; divisions by zero. `llvm::emulate` compiles the code for the
//! processor and inserts a call of [`check`] before each access. [`arena`] is the device memory,
//! [`block`] schedules the threads, and [`functions`] implements the device's instructions.
//!
//! The emulation predicts neither the speed nor the thread schedule of a GPU.

mod arena;
pub(crate) mod block;
mod check;
mod functions;
mod stacks;
mod warp;

use super::device::*;
use super::{nvptx, program};
use arena::Arena;
use hashbrown::HashMap;
use ompvm_llvm::Input;
use ompvm_llvm::emulate::{self, DeviceEnvironment, Emulated, Refusal};
use ompvm_llvm::nvptx::{Division, SharedVariable};
use ompvm_memory::internal_pool;
use ompvm_support::log;
use ompvm_support::settings::{DeviceSelection, Settings};
use parking_lot::{Mutex, RwLock};
use stacks::StackPool;
use std::any::Any;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Bytes of a launch environment.
const ENVIRONMENT_BYTES: u64 = size_of::<omp_abi::LaunchEnvironment>() as u64;

/// Host memory that all emulated devices of the process may access, from
/// `llvm_omp_target_alloc_host` and `_shared`.
static SHARED_HOST_MEMORY: RwLock<BTreeMap<u64, u64>> = RwLock::new(BTreeMap::new());

/// Returns true if devices may access a range of host memory.
fn is_shared_host_memory(address: u64, size: u64) -> bool {
    let ranges = SHARED_HOST_MEMORY.read();
    let found = ranges.range(..=address).next_back();
    found.is_some_and(|(&start, &len)| {
        let offset = address - start;
        offset <= len && size <= len - offset
    })
}

/// An emulated device.
#[derive(Debug)]
pub struct Device {
    number: u32,
    arena: Arc<Arena>,
    stacks: StackPool,
    /// Memories of the other devices of its group.
    peers: RwLock<Vec<Arc<Arena>>>,
    kernels: RwLock<Vec<LoadedKernel>>,
    queues: AtomicU64,
    timeout: Option<Duration>,
    /// True if it can access memory of others.
    links: bool,
    /// Held during copies from and to the host, as by a driver: a copy whose page fault needs another
    /// copy waits for ever, so tests find it.
    copying: Mutex<()>,
}

/// A kernel that can be launched.
#[derive(Clone, Debug)]
struct LoadedKernel {
    address: usize,
    shared: u64,
    places: Arc<Vec<emulate::SourceLocation>>,
    functions: Arc<Vec<usize>>,
}

impl Device {
    /// Creates the emulated device with the given number, and the memory and time limit of
    /// the settings.
    ///
    /// # Errors
    /// [`Failure::Lost`] if the system cannot reserve its address range.
    pub fn new(number: u32, settings: &'static Settings) -> Result<Device> {
        Device::of_rank(0, number, settings)
    }

    /// Creates an emulated device of a rank of MPI. Devices of different ranks have different
    /// addresses, so that an address of another device is recognized.
    ///
    /// # Errors
    /// As for [`Device::new`].
    pub fn of_rank(rank: u32, number: u32, settings: &'static Settings) -> Result<Device> {
        ompvm_memory::signals::set_device_hook(block::handle_fault);
        let tag = (rank * DeviceSelection::MOST_EMULATED + number) % arena::NUMBERS;
        Ok(Device {
            number,
            arena: Arc::new(Arena::new(tag, settings.emulated_memory)?),
            stacks: StackPool::default(),
            peers: RwLock::default(),
            kernels: RwLock::default(),
            queues: AtomicU64::new(1),
            timeout: settings.target_timeout,
            links: settings.emulated_links,
            copying: Mutex::new(()),
        })
    }

    /// Returns a mask, and the bits under it that all addresses of the device have.
    pub(crate) fn address_pattern(&self) -> (u64, u64) {
        self.arena.address_pattern()
    }

    fn host_address(&self, address: u64, size: u64, what: &str) -> Result<*mut u8> {
        if let Some(host) = self.arena.translate(address, size.max(1)) {
            return Ok(host);
        }
        let peers = self.peers.read();
        if let Some(host) = peers.iter().find_map(|p| p.translate(address, size.max(1))) {
            return Ok(host);
        }
        let unified = program::is_unified() && address & arena::TAG == 0;
        if size == 0 || unified || is_shared_host_memory(address, size) {
            return Ok(address as *mut u8);
        }
        Err(Failure::Fault(Box::new(Fault {
            what: format!(
                "{what} {size} bytes at {address:#x}, which is not allocated on the device"
            ),
            place: None,
            thread: None,
            help: None,
        })))
    }
}

/// Resolves symbols while an image is compiled.
#[derive(Debug)]
struct ImageResolver {
    arena: Arc<Arena>,
}

impl DeviceEnvironment for ImageResolver {
    fn variable(&self, name: &str, size: u64, align: u64) -> std::result::Result<u64, String> {
        self.arena
            .alloc(size, align)
            .map_err(|e| format!("no room for the variable `{name}`: {e}"))
    }

    fn shared(&self, offset: u64) -> u64 {
        arena::TAG | arena::SHARED_TAG | offset
    }

    fn function(&self, name: &str) -> usize {
        functions::address(name)
    }
}

/// A loaded image.
#[derive(Debug)]
struct EmulatedImage {
    emulated: Mutex<Emulated>,
    variables: HashMap<String, Symbol>,
    kernels: HashMap<String, Kernel>,
    /// Code for several devices, whose kernels are analyzed when a group asks.
    code: Option<DeviceCode>,
    divisions: OnceLock<HashMap<String, Division>>,
    shared: Vec<SharedVariable>,
    refused: HashMap<String, Failure>,
}

impl Image for EmulatedImage {
    fn symbol(&self, name: &str) -> Option<Symbol> {
        if let Some(symbol) = self.variables.get(name) {
            return Some(*symbol);
        }
        let address = self.emulated.lock().function(name)? as u64;
        Some(Symbol { address, size: 0 })
    }

    fn kernel(&self, name: &str) -> Option<Kernel> {
        self.kernels.get(name).copied()
    }

    fn division(&self, name: &str) -> Option<Division> {
        let code = self.code.as_ref()?;
        let divisions = self.divisions.get_or_init(|| divisions(code));
        divisions.get(name).cloned()
    }

    fn shared_variables(&self) -> &[SharedVariable] {
        &self.shared
    }

    fn construct(&self, device: &dyn super::device::Device) -> Result<()> {
        run_constructors(self, device)
    }

    fn refusal(&self, name: &str) -> Option<Failure> {
        self.refused.get(name).cloned()
    }
}

/// Converts a refusal of an image to a failure.
fn failure(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Damaged(cause) => Failure::Image(cause),
        Refusal::Unsupported(reason, place) => Failure::Unsupported { reason, place },
    }
}

/// Decodes the kernel environment, which the compiler emits; see [`ExecutionMode`].
pub(super) fn decode_kernel(handle: u64, args: u32, bytes: Option<&[u8]>) -> Kernel {
    let mut kernel = Kernel {
        handle,
        mode: ExecutionMode::Bare,
        threads: (0, 0),
        teams: (0, 0),
        reduction_size: 0,
        reduction_length: 0,
        any_grid: false,
        argument_words: args,
        results: 0,
    };
    let Some(bytes) = bytes.filter(|b| b.len() >= 28) else {
        return kernel;
    };
    let word =
        |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    kernel.mode = match bytes[2] {
        1 => ExecutionMode::Generic,
        2 => ExecutionMode::Spmd,
        3 => ExecutionMode::GenericSpmd,
        _ => ExecutionMode::Bare,
    };
    kernel.threads = (word(4), word(8));
    kernel.teams = (word(12), word(16));
    kernel.reduction_size = word(20).max(0) as u32;
    kernel.reduction_length = word(24).max(0) as u32;
    kernel
}

impl super::device::Device for Device {
    fn name(&self) -> String {
        format!("emulated device {}", self.number)
    }

    fn target(&self) -> Target {
        Target {
            triple: "nvptx64-nvidia-cuda",
            arch: String::new(),
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            memory: self.arena.capacity(),
            max_block_threads: 1024,
            default_blocks: 16,
            default_threads: 64,
            blocks: 65_535,
            warp: block::WARP_SIZE,
            dynamic_shared: 48 << 10,
        }
    }

    fn alloc(&self, size: u64, align: u64, memory: MemoryKind) -> Result<u64> {
        if memory == MemoryKind::Device {
            return self.arena.alloc(size, align);
        }
        let mut at = std::ptr::null_mut();
        // SAFETY: the result pointer is valid.
        let failed = unsafe {
            libc::posix_memalign(&raw mut at, align.max(64) as usize, size.max(1) as usize)
        };
        if failed != 0 {
            return Err(Failure::OutOfMemory { size });
        }
        SHARED_HOST_MEMORY.write().insert(at as u64, size);
        Ok(at as u64)
    }

    fn alloc_padded(&self, padding: u64, size: u64, align: u64) -> Result<u64> {
        self.arena.alloc_padded(padding, size, align)
    }

    fn free(&self, address: u64, memory: MemoryKind) -> Result<()> {
        if memory == MemoryKind::Device {
            return self.arena.free(address);
        }
        if SHARED_HOST_MEMORY.write().remove(&address).is_some() {
            // SAFETY: the block came from `posix_memalign`, and removing it from the list makes
            // this the only `free`.
            unsafe { libc::free(address as *mut libc::c_void) };
            return Ok(());
        }
        Err(Failure::Fault(Box::new(Fault {
            what: format!("free of an address that is no block of shared memory: {address:#x}"),
            place: None,
            thread: None,
            help: None,
        })))
    }

    unsafe fn upload(&self, _: Queue, to: u64, from: *const u8, len: usize) -> Result<()> {
        let to = self.host_address(to, len as u64, "a copy to the device:")?;
        let _copying = self.copying.lock();
        // SAFETY: by `Device::upload`'s contract, `from` is readable; `host_address` checked `to`.
        unsafe { std::ptr::copy(from, to, len) };
        Ok(())
    }

    unsafe fn download(&self, _: Queue, to: *mut u8, from: u64, len: usize) -> Result<()> {
        let from = self.host_address(from, len as u64, "a copy from the device:")?;
        let _copying = self.copying.lock();
        // SAFETY: by `Device::download`'s contract, `to` is writable; `host_address` checked
        // `from`.
        unsafe { std::ptr::copy(from, to, len) };
        Ok(())
    }

    fn copy(&self, _: Queue, to: u64, from: u64, len: u64) -> Result<()> {
        let to = self.host_address(to, len, "a copy on the device: to")?;
        let from = self.host_address(from, len, "a copy on the device: from")?;
        // SAFETY: `host_address` checked both ranges.
        unsafe { std::ptr::copy(from, to, len as usize) };
        Ok(())
    }

    fn fill(&self, _: Queue, to: u64, value: u8, len: u64) -> Result<()> {
        let to = self.host_address(to, len, "filling on the device:")?;
        // SAFETY: `host_address` checked the range.
        unsafe { to.write_bytes(value, len as usize) };
        Ok(())
    }

    fn load(&self, code: &DeviceCode) -> Result<Box<dyn Image>> {
        let mut inputs: Vec<Input> = Vec::new();
        for (n, bytes) in code.units.iter().enumerate() {
            inputs.push(Input {
                name: format!("device image {}", n + 1),
                bytes: bytes.clone(),
            });
        }
        inputs.push(Input {
            name: "device runtime".into(),
            bytes: ompvm_llvm::device::RUNTIME.to_vec(),
        });
        let resolver = Arc::new(ImageResolver {
            arena: self.arena.clone(),
        });
        let made = emulate::emulate(inputs, code.divided, resolver).map_err(failure)?;
        let places = Arc::new(made.locations.clone());
        let functions = Arc::new(made.functions.clone());
        let mut variables = HashMap::new();
        for variable in &made.variables {
            let Some(to) = self.arena.translate(variable.address, variable.size.max(1)) else {
                continue;
            };
            // SAFETY: `to` is a live block of that size, as are the contents.
            unsafe {
                match variable.contents {
                    Some(from) => {
                        std::ptr::copy_nonoverlapping(from as *const u8, to, variable.size as usize)
                    }
                    None => to.write_bytes(0, variable.size as usize),
                }
            }
            let symbol = Symbol {
                address: variable.address,
                size: variable.size,
            };
            variables.insert(variable.name.clone(), symbol);
        }
        // Variables that the device runtime reads.
        let words = [
            ("__ompvm_device_number", self.number),
            ("__ompvm_max_teams", code.teams),
            ("__ompvm_divided", u32::from(code.divided)),
        ];
        for (name, value) in words {
            if let Some(variable) = variables.get(name)
                && let Some(to) = self.arena.translate(variable.address, 4)
            {
                // SAFETY: `translate` checked four bytes.
                unsafe { to.cast::<u32>().write_unaligned(value) };
            }
        }
        let mut kernels = HashMap::new();
        let mut refused = HashMap::new();
        let mut loaded = self.kernels.write();
        for kernel in &made.kernels {
            if let Some(refusal) = &kernel.refused {
                refused.insert(kernel.name.clone(), failure(refusal.clone()));
                continue;
            }
            let of = variables.get(&format!("{}_kernel_environment", kernel.name));
            let bytes = of.and_then(|s| {
                let at = self.arena.translate(s.address, s.size)?;
                // SAFETY: `translate` checked the whole block.
                Some(unsafe { std::slice::from_raw_parts(at, s.size as usize) })
            });
            let handle = loaded.len() as u64;
            kernels.insert(
                kernel.name.clone(),
                decode_kernel(handle, kernel.args, bytes),
            );
            loaded.push(LoadedKernel {
                address: kernel.address,
                shared: made.shared,
                places: places.clone(),
                functions: functions.clone(),
            });
        }
        drop(loaded);
        let shared = made.shared_variables.clone();
        let image = EmulatedImage {
            emulated: Mutex::new(made),
            variables,
            kernels,
            code: code.divided.then(|| code.clone()),
            divisions: OnceLock::new(),
            shared,
            refused,
        };
        if !code.divided {
            image.construct(self)?;
        }
        Ok(Box::new(image))
    }

    fn launch(&self, _: Queue, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        let Some(loaded) = self.kernels.read().get(kernel.handle as usize).cloned() else {
            return Err(Failure::Image("the kernel is not loaded".into()));
        };
        let mut args = launch.args.to_vec();
        args.resize(kernel.argument_words as usize, 0);
        let mut own = Vec::new();
        if kernel.reduction_size > 0 && args.first() == Some(&0) {
            // The device runtime keeps a record for each team.
            let teams = launch.blocks.iter().map(|&n| u64::from(n)).product::<u64>();
            let length = teams.max(kernel.reduction_length.into());
            let buffer = self
                .arena
                .alloc(u64::from(kernel.reduction_size) * length, 64)?;
            let environment = self.arena.alloc(ENVIRONMENT_BYTES, 16)?;
            own.extend([buffer, environment]);
            if let Some(to) = self.arena.translate(environment, ENVIRONMENT_BYTES) {
                // SAFETY: `translate` checked the bytes of three words.
                unsafe { to.cast::<[u64; 3]>().write_unaligned([0, buffer, 0]) };
            }
            args[0] = environment;
        }
        let count = launch.threads.iter().product::<u32>();
        if count == 0 || count > 1024 || launch.blocks.contains(&0) {
            return Err(Failure::Unsupported {
                reason: format!(
                    "a launch of {:?} blocks of {:?} threads",
                    launch.blocks, launch.threads
                ),
                place: None,
            });
        }
        let peers = self.peers.read();
        let grid = block::Grid {
            kernel: loaded.address,
            args: &args,
            blocks: launch.blocks,
            threads: launch.threads,
            shared: loaded.shared + u64::from(launch.shared),
            dynamic: launch.shared,
            stacks: &self.stacks,
            arena: &self.arena,
            peers: &peers,
            places: &loaded.places,
            functions: &loaded.functions,
            deadline: self.timeout.map(|t| Instant::now() + t),
            unified: program::is_unified(),
            stop: AtomicBool::new(false),
            failure: Mutex::new(None),
        };
        run_grid(&grid);
        for address in own {
            self.arena.free(address)?;
        }
        match grid.failure.into_inner() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    fn queue(&self) -> Result<Queue> {
        Ok(Queue(self.queues.fetch_add(1, Ordering::Relaxed)))
    }

    fn release(&self, _: Queue) {}

    fn synchronize(&self, _: Queue) -> Result<()> {
        Ok(())
    }

    fn idle(&self, _: Queue) -> Result<bool> {
        Ok(true)
    }

    fn survives_faults(&self) -> bool {
        true
    }

    fn predicts_no_speed(&self) -> bool {
        true
    }

    fn accesses_host_blocks(&self) -> bool {
        true
    }

    fn accesses_host_memory(&self) -> bool {
        true
    }

    fn host_view(&self, address: u64, len: u64) -> Option<NonNull<u8>> {
        NonNull::new(self.arena.translate(address, len)?)
    }

    fn owns(&self, address: u64) -> bool {
        self.arena.owns(address)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn reach(&self, other: &dyn super::device::Device) -> std::result::Result<(), String> {
        let Some(other) = other.as_any().downcast_ref::<Device>() else {
            return Err("the other device is not emulated".into());
        };
        if !(self.links && other.links) {
            return Err("emulated devices have no links (OMPVM_EMULATED_LINKS)".into());
        }
        self.peers.write().push(other.arena.clone());
        Ok(())
    }

    /// The whole range lies in this device's memory, which the others can access: only the copies
    /// go through the devices of the parts.
    fn alloc_striped(
        &self,
        devices: &[&dyn super::device::Device],
        size: u64,
    ) -> Result<Option<Stripes>> {
        let count = devices.len() as u64;
        if size < STRIPE_UNIT * count {
            return Ok(None);
        }
        let start = self.arena.alloc(size, STRIPE_UNIT)?;
        let units = size / STRIPE_UNIT;
        let mut parts: Vec<StripedPart> = (1..=count)
            .map(|n| StripedPart {
                end: units * n / count * STRIPE_UNIT,
                member: n as usize - 1,
            })
            .collect();
        if let Some(last) = parts.last_mut() {
            last.end = size;
        }
        Ok(Some(Stripes {
            start,
            parts,
            unit: STRIPE_UNIT,
            worthwhile: STRIPE_UNIT * count,
        }))
    }

    fn move_striped(
        &self,
        _: &[&dyn super::device::Device],
        _: &Stripes,
        _: &[StripedPart],
    ) -> Result<bool> {
        // All devices are memory of the host.
        Ok(true)
    }

    fn free_striped(&self, stripes: &Stripes) -> Result<()> {
        self.arena.free(stripes.start)
    }
}

/// Unit of the parts of striped ranges.
const STRIPE_UNIT: u64 = 4096;

/// Returns how devices share the kernels of code that was made for that; none if the code cannot be
/// compiled. The analysis needs the code in the form that GPUs get.
fn divisions(code: &DeviceCode) -> HashMap<String, Division> {
    let compiled = match nvptx::compile(code, nvptx::ANALYZED) {
        Ok(compiled) => compiled,
        Err(why) => {
            tracing::info!(target: log::OFFLOAD, %why, "cannot analyze kernels, so one device runs them");
            return HashMap::new();
        }
    };
    let kernels = compiled.lowered.kernels.into_iter();
    kernels
        .filter_map(|k| Some((k.name, k.division?)))
        .collect()
}

/// Runs all blocks of a grid on several threads.
fn run_grid(grid: &block::Grid<'_>) {
    let [w, h, d] = grid.blocks;
    let total = w.saturating_mul(h).saturating_mul(d);
    let next = AtomicU32::new(0);
    let work = || {
        let _signals = block::SignalStack::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= total || grid.stop.load(Ordering::Acquire) {
                return;
            }
            block::run(grid, [n % w, n / w % h, n / (w * h)]);
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let workers = processors.min(total).min(16);
    // Blocks never run on the guest's thread, whose stack and signal handling belong to the guest.
    internal_pool::run_apart(workers as usize, &work);
}
