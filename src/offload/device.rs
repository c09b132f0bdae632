//! The interface of an accelerator.
//!
//! A [`Device`] has memory, copies, images of code, launches and queues. Device addresses are `u64`
//! and mean nothing on the host. The trait offers plain operations, because mapping, target tasks
//! and the `omp_target_*` routines are the same for every kind of device. It adds no cost to the
//! device's own launch: kernels are resolved once to a [`Kernel`], arguments are words in an array
//! of the caller, and nothing is allocated.
//!
//! Operations of one [`Queue`] run in order. With [`Queue::SYNC`] a call returns when its operation
//! is complete. A device without queues may execute everything at once and report every queue as
//! idle.
//!
//! The trait sets no policy: its callers decide which device a region runs on, what is mapped, and
//! what a failure means for the program.

use super::options::OffloadOptions;
use super::report::GroupRun;
use omp_abi::League;
pub use ompvm_kmpc::interop::Foreign;
use ompvm_llvm::constructors::CONSTRUCTORS;
use ompvm_llvm::nvptx::{Division, SharedVariable};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::fmt::{self, Debug};
use std::ptr::NonNull;
use std::time::Duration;

/// A stream of operations that run in order on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Queue(pub u64);

impl Queue {
    /// The queue of synchronous operations: a call returns when its operation is complete.
    pub const SYNC: Queue = Queue(0);
}

/// A function that writes the piece of an upload at an offset.
pub type Fill<'a> = dyn Fn(usize, &mut [u8]) + Sync + 'a;

/// A function that reads the piece of a download at an offset.
pub type Drain<'a> = dyn Fn(usize, &[u8]) + Sync + 'a;

/// The kind of code that a device runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Target triple of the images that it accepts (`nvptx64-nvidia-cuda`).
    pub triple: &'static str,
    /// Architecture (`sm_90`); empty if it accepts every architecture of the triple.
    pub arch: String,
}

/// Capacity limits and default launch sizes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Size of its memory in bytes.
    pub memory: u64,
    /// Maximum number of threads in a block.
    pub max_block_threads: u32,
    /// Default number of blocks: enough to keep the device busy.
    pub default_blocks: u32,
    /// Default number of threads in a block.
    pub default_threads: u32,
    /// Maximum number of blocks in a grid.
    pub blocks: u32,
    /// Number of threads in a warp.
    pub warp: u32,
    /// Maximum bytes of dynamic shared memory per block.
    pub dynamic_shared: u32,
}

/// Execution mode of a kernel, from its `<name>_kernel_environment`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutionMode {
    /// One thread of each block starts; the others wait for parallel regions. A block needs one
    /// warp more than the threads of its regions.
    Generic,
    /// All threads start together.
    Spmd,
    /// Written as generic and converted to SPMD by the compiler: the number of blocks follows the
    /// generic rule, the number of threads the SPMD rule.
    GenericSpmd,
    /// No OpenMP kernel (it has no environment), or one that does not use the device runtime.
    Bare,
}

/// A kernel of a loaded image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Handle of the device: a launch needs no look-up.
    pub handle: u64,
    /// Execution mode.
    pub mode: ExecutionMode,
    /// Minimum and maximum threads of a block; 0 or less means unbounded.
    pub threads: (i32, i32),
    /// Minimum and maximum blocks; 0 or less means unbounded.
    pub teams: (i32, i32),
    /// Bytes that each block contributes to the cross-team reduction; 0 if there is none, in which
    /// case the kernel takes no launch environment.
    pub reduction_size: u32,
    /// Number of blocks whose contributions the cross-team reduction buffer holds at once.
    pub reduction_length: u32,
    /// True if the number of blocks does not affect the results, so `num_teams` is only an upper
    /// bound.
    pub any_grid: bool,
    /// Number of argument words, with the launch environment. The emulated device pads
    /// [`Launch::args`] to it.
    pub argument_words: u32,
    /// Argument words that lead to results of a reduction alone, as a set of bits: one thread
    /// accesses each once, so they may lie in [`MemoryKind::Host`].
    pub results: u64,
}

/// Shape and arguments of a kernel launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Blocks of the grid, per dimension.
    pub blocks: [u32; 3],
    /// Threads of a block, per dimension.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory (`ompx_dyn_cgroup_mem`).
    pub shared: u32,
    /// Argument words. The first word of an OpenMP kernel is the device address of its launch
    /// environment, or 0: the device then provides one if the kernel has a reduction.
    pub args: &'a [u64],
    /// For each argument, the memory that it leads to: an argument may be the address of an array
    /// of which only a later section is mapped. Empty if all arguments are addresses in such memory
    /// themselves.
    pub sections: &'a [Section],
}

/// A section of device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// First address.
    pub start: u64,
    /// Size in bytes; 0 if it is unknown.
    pub size: u64,
}

/// Host memory that a construct maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSection {
    /// First address.
    pub start: u64,
    /// True if the construct only fills it, so that the device may write it before the construct
    /// ends: the host can still execute the construct if the device fails.
    pub filled: bool,
}

/// A symbol of a loaded image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Device address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
}

/// Reason why a device operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Failure {
    /// The device has too little free memory.
    #[error("the device has no {size} bytes left")]
    OutOfMemory {
        /// Size of the request in bytes.
        size: u64,
    },
    /// The program's device code misbehaved; its results are invalid.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The image uses a feature that the device does not support.
    #[error("not supported on the device: {reason}{}", AtLocation(place))]
    Unsupported {
        /// Description of the feature.
        reason: String,
        /// Source location (`file.c:12`), if known.
        place: Option<String>,
    },
    /// The image is damaged or built for another device.
    #[error("the device image cannot be used: {0}")]
    Image(String),
    /// The device does not respond or its driver refuses it: it can no longer be used.
    #[error("the device is lost: {0}")]
    Lost(String),
}

/// An error that the program made on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Description: "a read of 8 bytes at ..., an address of the host".
    pub what: String,
    /// Source location of the access (`file.c:12`), if known.
    pub place: Option<String>,
    /// Block and thread, if known.
    pub thread: Option<(u32, u32)>,
    /// Suggested remedy, if there is one.
    pub help: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.what, AtLocation(&self.place))?;
        if let Some((block, thread)) = self.thread {
            write!(f, ", block {block}, thread {thread}")?;
        }
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

struct AtLocation<'a>(&'a Option<String>);

impl fmt::Display for AtLocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(place) => write!(f, " at {place}"),
            None => Ok(()),
        }
    }
}

/// Result of a device operation.
pub type Result<T> = std::result::Result<T, Failure>;

/// Placement of memory that the program allocates explicitly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// On the device only.
    Device,
    /// On the host, accessible to the device (`llvm_omp_target_alloc_host`).
    Host,
    /// Accessible to both and migrated between them (`llvm_omp_target_alloc_shared`).
    Shared,
}

/// Device code of a program. [`Device::load`] links the images of its translation units with each
/// other and with the device runtime.
#[derive(Clone, Debug)]
pub struct DeviceCode {
    /// Bitcode of each unit as the compiler emitted it.
    pub units: Vec<Vec<u8>>,
    /// Architecture that the units were compiled for.
    pub arch: String,
    /// Name of the program, for messages.
    pub name: String,
    /// `nteams-var` of the device; 0 if unbounded.
    pub teams: u32,
    /// True if several devices share the program's leagues; see [`super::group`].
    pub divided: bool,
    /// Settings of the program.
    pub options: OffloadOptions,
}

/// Size in bytes of a staging buffer for [`Device::fetch_staged`].
pub const STAGING_BYTES: usize = 32 << 10;

/// An accelerator.
///
/// Every method may be called from several threads at once.
pub trait Device: Send + Sync + Debug {
    /// Returns the name of the device for messages and reports.
    fn name(&self) -> String;

    /// Returns the name of the device that failed, for messages: of the member of a group of which a
    /// failure came last. `None` if that is unknown.
    fn name_of_failed(&self, _failure: &Failure) -> Option<String> {
        None
    }

    /// Returns a globally unique identifier, if the device has one.
    fn uid(&self) -> Option<String> {
        None
    }

    /// Returns the kind of code that it runs.
    fn target(&self) -> Target;

    /// Starts the device, which its first operation would do otherwise.
    ///
    /// # Errors
    /// [`Failure::Lost`].
    fn open(&self) -> Result<()> {
        Ok(())
    }

    /// Returns its capacity limits.
    fn limits(&self) -> Limits;

    /// Allocates `size` bytes. The address is a multiple of `align`, a power of two, and of 16. The
    /// contents are undefined. An allocation of size 0 has a distinct address, too.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`]; [`Failure::Unsupported`] if the device lacks this kind of memory.
    fn alloc(&self, size: u64, align: u64, memory: MemoryKind) -> Result<u64>;

    /// Allocates space for a section of host memory, after `padding` bytes that preserve its
    /// alignment. Returns the start of the padding, which [`Device::free`] takes.
    ///
    /// # Errors
    /// As for [`Device::alloc`].
    fn alloc_padded(&self, padding: u64, size: u64, align: u64) -> Result<u64> {
        self.alloc(padding + size, align, MemoryKind::Device)
    }

    /// Allocates space for a section of host memory as [`Device::alloc_padded`] does, if the section
    /// is mapped only while the program waits for a region. The device may then use the host's memory
    /// in place of a copy; copies between the two have no effect there.
    ///
    /// # Errors
    /// As for [`Device::alloc`].
    fn alloc_mapped(&self, _host: HostSection, padding: u64, size: u64, align: u64) -> Result<u64> {
        self.alloc_padded(padding, size, align)
    }

    /// Frees memory from [`Device::alloc`]. All queued operations that use it must be complete.
    ///
    /// # Errors
    /// [`Failure::Fault`] if the address is not that of an allocation.
    fn free(&self, address: u64, memory: MemoryKind) -> Result<()>;

    /// Copies from the host to the device.
    ///
    /// # Safety
    /// `len` bytes at `from` must be readable until the operation is complete.
    ///
    /// # Errors
    /// [`Failure::Fault`] if the device range is not allocated, as far as the device can tell.
    unsafe fn upload(&self, queue: Queue, to: u64, from: *const u8, len: usize) -> Result<()>;

    /// Copies to the device what `fill` writes: several threads call it, each with the offset and
    /// the memory of another piece. Returns false, and does nothing, if the device has no pinned
    /// buffers for a copy of this size.
    ///
    /// # Errors
    /// As for [`Device::upload`].
    fn upload_filled(&self, _to: u64, _len: usize, _fill: &Fill<'_>) -> Result<bool> {
        Ok(false)
    }

    /// Copies from the device and lets `drain` read the pieces, as [`Device::upload_filled`] does
    /// it. All are read at the return.
    ///
    /// # Errors
    /// As for [`Device::download`].
    fn download_drained(&self, _from: u64, _len: usize, _drain: &Drain<'_>) -> Result<bool> {
        Ok(false)
    }

    /// Copies from the device to the host.
    ///
    /// # Safety
    /// `len` bytes at `to` must be writable until the operation is complete.
    ///
    /// # Errors
    /// As for [`Device::upload`].
    unsafe fn download(&self, queue: Queue, to: *mut u8, from: u64, len: usize) -> Result<()>;

    /// Copies within the device. The ranges must not overlap.
    ///
    /// # Errors
    /// As for [`Device::upload`].
    fn copy(&self, queue: Queue, to: u64, from: u64, len: u64) -> Result<()>;

    /// Begins to copy ranges within memory that the device accesses, each to the first address from
    /// the second one. The ranges must not overlap. The thread calls [`Device::await_copies`] next.
    ///
    /// # Errors
    /// As for [`Device::upload`].
    fn start_copies(&self, ranges: &[(u64, u64, u64)]) -> Result<()> {
        let mut ranges = ranges.iter();
        ranges.try_for_each(|&(to, from, len)| self.copy(Queue::SYNC, to, from, len))
    }

    /// Waits for [`Device::start_copies`].
    ///
    /// # Errors
    /// As for [`Device::upload`].
    fn await_copies(&self) -> Result<()> {
        Ok(())
    }

    /// Returns a handle by which devices of other processes of this host can access the memory at
    /// an address, see [`Device::import`]. `None` if there is none.
    fn export(&self, _address: u64) -> Option<Vec<u8>> {
        None
    }

    /// Opens memory of another process by its handle. Returns the address at which this device
    /// accesses it, or `None` if it cannot.
    fn import(&self, _handle: &[u8]) -> Option<u64> {
        None
    }

    /// Closes memory of [`Device::import`]. All operations that use it must be complete.
    fn close_import(&self, _address: u64) {}

    /// Copies from another device of the same kind. Returns false if the device cannot do so; the
    /// caller then copies through the host.
    ///
    /// # Errors
    /// As for [`Device::upload`].
    fn copy_from(
        &self,
        _queue: Queue,
        _to: u64,
        _other: &dyn Device,
        _from: u64,
        _len: u64,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Fills a range with a byte.
    ///
    /// # Errors
    /// As for [`Device::upload`].
    fn fill(&self, queue: Queue, to: u64, value: u8, len: u64) -> Result<()>;

    /// Links, lowers and loads code. Its symbols live until the device is dropped.
    ///
    /// # Errors
    /// [`Failure::Image`] for a damaged image; [`Failure::Unsupported`] with the reason.
    fn load(&self, code: &DeviceCode) -> Result<Box<dyn Image>>;

    /// Launches a kernel.
    ///
    /// # Errors
    /// With [`Queue::SYNC`] every failure of the launch and the kernel. With other queues only a
    /// failure to launch; later ones appear at the next synchronization.
    fn launch(&self, queue: Queue, kernel: &Kernel, launch: &Launch<'_>) -> Result<()>;

    /// Launches a kernel on [`Queue::SYNC`] without waiting; [`Device::await_launch`] waits for it.
    ///
    /// # Errors
    /// A failure to launch.
    fn launch_async(&self, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        self.launch(Queue::SYNC, kernel, launch)
    }

    /// Copies to the device for the [`Device::launch_async`] that this thread calls next. A failure
    /// may appear at [`Device::await_launch`] only.
    ///
    /// # Errors
    /// As for [`Device::upload`].
    fn upload_ahead(&self, to: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: the bytes are readable until the return, when copies on the synchronous queue are
        // complete.
        unsafe { self.upload(Queue::SYNC, to, bytes.as_ptr(), bytes.len()) }
    }

    /// Announces that this thread calls [`Device::await_launch`] next, so that a distant device
    /// answers as soon as it can.
    fn announce_await(&self, _kernel: &Kernel) {}

    /// Waits for the [`Device::launch_async`] and [`Device::fetch_staged`] calls of this thread.
    ///
    /// # Errors
    /// Every failure of the kernel.
    fn await_launch(&self, _kernel: &Kernel) -> Result<()> {
        Ok(())
    }

    /// Returns how long the launch took that this thread awaited last, if the device measures that.
    fn launch_time(&self) -> Option<Duration> {
        None
    }

    /// Describes how a group of devices ran a launch, right after it was started; `None` if this is
    /// one device. Only the report needs it.
    fn describe(&self, _kernel: &Kernel, _launch: &Launch<'_>) -> Option<GroupRun> {
        None
    }

    /// Lends a staging buffer of [`STAGING_BYTES`] bytes for [`Device::fetch_staged`]. Returns
    /// `None` on devices where staging has no benefit.
    fn lend_staging(&self) -> Option<NonNull<u8>> {
        None
    }

    /// Returns a buffer of [`Device::lend_staging`] to the device.
    fn return_staging(&self, _buffer: NonNull<u8>) {}

    /// Copies from the device to a buffer of [`Device::lend_staging`], behind the kernel that was
    /// begun. The bytes are valid after [`Device::await_launch`].
    ///
    /// # Safety
    /// `to` and `len` must lie within such a buffer, which must not be returned before
    /// [`Device::await_launch`].
    ///
    /// # Errors
    /// As for [`Device::upload`].
    unsafe fn fetch_staged(&self, to: *mut u8, from: u64, len: usize) -> Result<()> {
        // SAFETY: by this function's contract, `len` bytes at `to` lie within a lent buffer.
        unsafe { self.download(Queue::SYNC, to, from, len) }
    }

    /// Creates a queue, or reuses an idle one.
    ///
    /// # Errors
    /// [`Failure::Lost`].
    fn queue(&self) -> Result<Queue>;

    /// Releases a queue. All of its operations must be complete.
    fn release(&self, queue: Queue);

    /// Waits until all operations of a queue are complete; [`Queue::SYNC`] stands for all queues.
    ///
    /// # Errors
    /// Failures of the queue's operations.
    fn synchronize(&self, queue: Queue) -> Result<()>;

    /// Returns true if all operations of a queue are complete.
    ///
    /// # Errors
    /// Failures of the queue's operations.
    fn idle(&self, queue: Queue) -> Result<bool>;

    /// Hints that a range of host memory will be copied often, so that the device may pin it.
    fn pin(&self, _start: *mut u8, _len: usize) {}

    /// Withdraws the hint of [`Device::pin`].
    fn unpin(&self, _start: *mut u8) {}

    /// Returns the number of blocks and threads of a launch, from the program's request (0: none)
    /// and the trip count (0: unknown).
    fn shape(&self, kernel: &Kernel, teams: u32, threads: u32, trip: u64) -> (u32, u32) {
        default_shape(&self.limits(), kernel, teams, threads, trip)
    }

    /// Returns true if kernels can access all host memory by host addresses
    /// (`unified_shared_memory`).
    fn accesses_host_memory(&self) -> bool {
        false
    }

    /// Returns true if kernels of this process access [`MemoryKind::Host`] as they do device
    /// memory.
    fn accesses_host_blocks(&self) -> bool {
        false
    }

    /// Returns the foreign runtime's objects for a queue, for `interop` constructs. Returns `None`
    /// if the device has no foreign runtime.
    fn foreign_handles(&self, _queue: Queue) -> Option<Foreign> {
        None
    }

    /// Returns true if device memory keeps its contents when a kernel fails.
    fn survives_faults(&self) -> bool {
        false
    }

    /// Returns true if the times of kernels mean nothing. A group of such devices varies their
    /// shares, which tests that results do not depend on them.
    fn predicts_no_speed(&self) -> bool {
        false
    }

    /// Returns true if each block of a launch has a share of the iterations of its own
    /// ([`crate::processors::share_of_block`]). It then stores its own record of a reduction over a
    /// league that several devices share: record n is that of the league's team n.
    fn has_shares_of_blocks(&self) -> bool {
        false
    }

    /// Tells the device that it helps others, whose copies by threads of this process come first. The
    /// caller has launched nothing there yet.
    fn help(&self) {}

    /// Returns the host's address of a range of device memory, if the host can access it. The range
    /// must be allocated.
    fn host_view(&self, _address: u64, _len: u64) -> Option<NonNull<u8>> {
        None
    }

    /// Returns true if the address belongs to this device, allocated or not. Used for diagnostics.
    fn owns(&self, address: u64) -> bool;

    /// Returns the device itself, for devices of the same kind.
    fn as_any(&self) -> &dyn Any;

    /// Makes the memory of another device of the same kind accessible to this one, at the same
    /// addresses.
    ///
    /// # Errors
    /// The reason why that is not possible.
    fn reach(&self, _other: &dyn Device) -> std::result::Result<(), String> {
        Err("it cannot access the memory of other devices".into())
    }

    /// Allocates one range of addresses whose parts lie on several devices of the same kind, of
    /// which this is one, in their order. Returns `None` if the size is too small, or if the device
    /// has no such memory. [`Device::free_striped`] frees the range.
    ///
    /// # Errors
    /// As for [`Device::alloc`].
    fn alloc_striped(&self, _devices: &[&dyn Device], _size: u64) -> Result<Option<Stripes>> {
        Ok(None)
    }

    /// Moves a range of [`Device::alloc_striped`] so that its parts lie as `parts` says, and keeps
    /// its addresses and contents. Returns false if it stays where it is, for lack of memory or
    /// because the device cannot do so. The ends are multiples of [`Stripes::unit`], except for the
    /// last, which stays. All operations that use the range must be complete.
    ///
    /// # Errors
    /// [`Failure::Lost`] if the contents are lost.
    fn move_striped(
        &self,
        _devices: &[&dyn Device],
        _stripes: &Stripes,
        _parts: &[StripedPart],
    ) -> Result<bool> {
        Ok(false)
    }

    /// Frees memory from [`Device::alloc_striped`]. All operations that use it must be complete.
    ///
    /// # Errors
    /// As for [`Device::free`].
    fn free_striped(&self, _stripes: &Stripes) -> Result<()> {
        Ok(())
    }

    /// Marks the end of what [`Queue::SYNC`] was given so far, for [`Device::follow`].
    ///
    /// # Errors
    /// Failures of the device.
    fn mark(&self) -> Result<()> {
        Ok(())
    }

    /// Makes later operations on [`Queue::SYNC`] wait for the latest [`Device::mark`] of `other`.
    ///
    /// # Errors
    /// Failures of the operations.
    fn follow(&self, other: &dyn Device) -> Result<()> {
        other.synchronize(Queue::SYNC)
    }
}

/// A range of addresses whose parts lie on several devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripes {
    /// First address.
    pub start: u64,
    /// The parts in the order of their addresses. The end of the last is the size of the range.
    pub parts: Vec<StripedPart>,
    /// Size in bytes of the units that lie on one device.
    pub unit: u64,
    /// Size in bytes from which an array gains by lying on all of the devices.
    pub worthwhile: u64,
}

/// A part of a striped range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripedPart {
    /// Offset of its end in the range.
    pub end: u64,
    /// Index of the device that it lies on.
    pub member: usize,
}

impl Stripes {
    /// Size of the range in bytes.
    pub fn size(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.end)
    }
}

/// Code that is loaded on a device.
pub trait Image: Send + Sync + Debug {
    /// Returns a variable, or a function whose address the device code can take.
    fn symbol(&self, name: &str) -> Option<Symbol>;

    /// Looks a kernel up. Callers keep the result.
    fn kernel(&self, name: &str) -> Option<Kernel>;

    /// Returns how devices share a kernel, if the code was made for that.
    fn division(&self, _name: &str) -> Option<Division> {
        None
    }

    /// Returns the variables that all devices share, if the code was made for that. The caller
    /// allocates them and writes the pointers to them.
    fn shared_variables(&self) -> &[SharedVariable] {
        &[]
    }

    /// Runs the constructors of the image's variables, unless loading did: code for several devices
    /// needs the shared variables first.
    ///
    /// # Errors
    /// As for [`Device::launch`].
    fn construct(&self, _device: &dyn Device) -> Result<()> {
        Ok(())
    }

    /// Returns why a kernel of the image has no code, if that is known before it is launched.
    fn refusal(&self, _name: &str) -> Option<Failure> {
        None
    }
}

/// Runs the constructors of an image's variables, for [`Image::construct`].
///
/// # Errors
/// As for [`Device::launch`].
pub(super) fn run_constructors(image: &dyn Image, device: &dyn Device) -> Result<()> {
    let Some(constructors) = image.kernel(CONSTRUCTORS) else {
        return Ok(());
    };
    let once = Launch {
        blocks: [1; 3],
        threads: [1; 3],
        shared: 0,
        args: &[],
        sections: &[],
    };
    device.launch(Queue::SYNC, &constructors, &once)
}

/// Share of a device that runs a launch alone, which is what an image is loaded with.
pub(super) const ALONE: League = League {
    part: 0,
    parts: 1,
    from: 0,
    to: 0,
    first: 0,
    teams: 0,
};

/// Returns the default launch shape, from the limits of the device and the bounds of the kernel.
pub fn default_shape(
    limits: &Limits,
    kernel: &Kernel,
    teams: u32,
    threads: u32,
    trip: u64,
) -> (u32, u32) {
    let bound = |value: u32, (least, most): (i32, i32)| {
        let value = if most > 0 {
            value.min(most as u32)
        } else {
            value
        };
        value.max(least.max(1) as u32)
    };
    let extra = if kernel.mode == ExecutionMode::Generic {
        limits.warp
    } else {
        0
    };
    let asked = if threads == 0 {
        limits.default_threads
    } else {
        threads
    };
    // The environment's bounds count the extra warp.
    let threads = bound(asked.saturating_add(extra), kernel.threads).min(limits.max_block_threads);
    let per_block = match kernel.mode {
        ExecutionMode::Spmd => u64::from(threads),
        // One block executes each iteration of `distribute`.
        _ => 1,
    };
    let blocks = match (teams, trip) {
        (0, 0) => limits.default_blocks,
        (0, trip) => u32::try_from(trip.div_ceil(per_block))
            .unwrap_or(u32::MAX)
            .min(limits.default_blocks),
        (teams, _) => teams,
    };
    let blocks = bound(blocks, kernel.teams).min(limits.blocks);
    (blocks, threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        memory: 1 << 30,
        max_block_threads: 1024,
        default_blocks: 264,
        default_threads: 128,
        blocks: 65535,
        warp: 32,
        dynamic_shared: 48 << 10,
    };

    fn kernel(mode: ExecutionMode, threads: (i32, i32), teams: (i32, i32)) -> Kernel {
        Kernel {
            handle: 0,
            mode,
            threads,
            teams,
            reduction_size: 0,
            reduction_length: 0,
            any_grid: false,
            argument_words: 0,
            results: 0,
        }
    }

    #[test]
    fn offload_shape_follows_trip_count_and_bounds() {
        let spmd = kernel(ExecutionMode::Spmd, (1, 128), (-1, -1));
        assert_eq!(default_shape(&LIMITS, &spmd, 0, 0, 1000), (8, 128));
        assert_eq!(default_shape(&LIMITS, &spmd, 3, 64, 1000), (3, 64));
        assert_eq!(default_shape(&LIMITS, &spmd, 0, 0, 0), (264, 128));
        let generic = kernel(ExecutionMode::Generic, (1, 0), (1, 1));
        assert_eq!(default_shape(&LIMITS, &generic, 0, 0, 0), (1, 160));
        assert_eq!(default_shape(&LIMITS, &generic, 0, 2000, 7), (1, 1024));
    }

    #[test]
    fn offload_fault_message_has_location() {
        let fault = Fault {
            what: "a read".into(),
            place: Some("x.c:3".into()),
            thread: Some((1, 2)),
            help: None,
        };
        assert_eq!(fault.to_string(), "a read at x.c:3, block 1, thread 2");
    }
}
