//! What the host side of offload asks of a device.
//!
//! What: [`Device`] is one accelerator: memory, copies, images of code, launches, queues. Addresses
//! on it are `u64`; they mean nothing on the host. Why a trait of plain operations: mapping, the
//! target tasks and the `omp_target_*` routines are the same for every kind of device, and nothing
//! here costs a launch more than the device's own call: kernels are resolved once to a
//! [`Kernel`], arguments are words in an array that the caller owns, and nothing is allocated.
//! How queues work: operations of one [`Queue`] follow each other; [`Queue::SYNC`] means that the
//! call returns when the operation is done. A device without queues may do everything at once and
//! say that every queue is idle.
//!
//! What not: no policy. Which device a region runs on, what is mapped and what a failure means for
//! the program is decided above.

pub use crate::kmpc::interop::Foreign;
use std::fmt::{self, Debug};
use std::ptr::NonNull;

/// A stream of operations that follow each other on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Queue(pub u64);

impl Queue {
    /// The operation is done when the call returns.
    pub const SYNC: Queue = Queue(0);
}

/// A point in a queue that other queues and the host can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event(pub u64);

/// Which code a device runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The triple of images that it takes (`nvptx64-nvidia-cuda`).
    pub triple: &'static str,
    /// Its own architecture (`sm_90`); empty where it takes every one of the triple.
    pub arch: String,
}

/// What a device can hold and run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of its memory.
    pub memory: u64,
    /// Threads of a block at most.
    pub threads_per_block: u32,
    /// Blocks that make it busy, where the program leaves their number open.
    pub usual_blocks: u32,
    /// Threads of a block, where the program leaves their number open.
    pub usual_threads: u32,
    /// Blocks of a grid at most.
    pub blocks: u32,
    /// Threads of a warp.
    pub warp: u32,
    /// Bytes of shared memory that a block may ask for at launch.
    pub dynamic_shared: u32,
}

/// How a kernel was compiled, from its `<name>_kernel_environment`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One thread of each block begins; the others wait for parallel regions. A block needs one
    /// warp more than the threads that regions may have.
    Generic,
    /// All threads begin together.
    Spmd,
    /// Written as generic, made SPMD by the compiler: the number of blocks follows the generic
    /// rule, that of threads the other.
    GenericSpmd,
    /// Not a kernel of OpenMP (no environment), or one without the runtime.
    Bare,
}

/// A kernel of a loaded image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The device's own handle: what a launch needs, without looking anything up.
    pub handle: u64,
    /// How it was compiled.
    pub mode: Mode,
    /// Least and most threads of a block; 0 or less: open.
    pub threads: (i32, i32),
    /// Least and most blocks; 0 or less: open.
    pub teams: (i32, i32),
    /// Bytes that a block adds to the cross-team reduction; 0: none, and no launch environment.
    pub reduction_size: u32,
    /// Blocks that the buffer of a cross-team reduction holds at once.
    pub reduction_length: u32,
    /// The number of blocks changes none of the results: `num_teams` is no more than a bound.
    pub any_grid: bool,
    /// Bytes of each argument's slot in [`Launch::args`] beyond the first, which is the launch
    /// environment's address; kernels of OpenMP take words only.
    pub args: u32,
}

/// One launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Blocks of the grid.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: [u32; 3],
    /// Bytes of shared memory that the program asked for (`ompx_dyn_cgroup_mem`).
    pub shared: u32,
    /// The arguments, word by word. Of a kernel of OpenMP the first is the address of its launch
    /// environment on the device, or 0: the device provides one where the kernel has a reduction.
    pub args: &'a [u64],
}

/// A symbol of a loaded image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Where it is on the device.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// Why a device did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No memory of the size is left on it.
    #[error("the device has no {size} bytes left")]
    OutOfMemory {
        /// What was asked for.
        size: u64,
    },
    /// The program did something wrong on it; what it computed is worth nothing.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The image uses something that this version cannot run there.
    #[error("not supported on the device: {reason}{}", At(place))]
    Unsupported {
        /// What, in words.
        reason: String,
        /// `file.c:12`, when known.
        place: Option<String>,
    },
    /// The image is damaged or not for this device.
    #[error("the device image cannot be used: {0}")]
    Image(String),
    /// The device does not answer, or its driver refuses: nothing more can be done with it.
    #[error("the device is lost: {0}")]
    Lost(String),
}

/// What a program did wrong on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened, in words: "a read of 8 bytes at ..., an address of the host".
    pub what: String,
    /// `file.c:12` of the access, when known.
    pub place: Option<String>,
    /// Block and thread, when known.
    pub thread: Option<(u32, u32)>,
    /// What to look for, when there is a guess.
    pub help: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.what, At(&self.place))?;
        if let Some((block, thread)) = self.thread {
            write!(f, ", block {block}, thread {thread}")?;
        }
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

struct At<'a>(&'a Option<String>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(place) => write!(f, " at {place}"),
            None => Ok(()),
        }
    }
}

/// What a device answers.
pub type Result<T> = std::result::Result<T, Failure>;

/// Where memory that the program asks for by hand lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// On the device alone.
    Device,
    /// On the host, where the device can reach it (`llvm_omp_target_alloc_host`).
    Host,
    /// Where either reaches it (`llvm_omp_target_alloc_shared`).
    Shared,
}

/// Device code of the program: the units' images, linked together and with the device's runtime.
#[derive(Clone, Debug)]
pub struct Code {
    /// Bitcode of the units, each for itself, as the compiler emitted it.
    pub units: Vec<Vec<u8>>,
    /// The architecture that they were compiled for.
    pub arch: String,
    /// The program's name, for messages.
    pub name: String,
    /// `nteams-var` of the device; 0 where nothing bounds the teams.
    pub teams: u32,
}

/// Bytes of a buffer for what is copied back behind a kernel.
pub const FETCHED: usize = 32 << 10;

/// One accelerator.
///
/// All of it may be called from several threads at once.
pub trait Device: Send + Sync + Debug {
    /// Its name, for messages and reports.
    fn name(&self) -> String;

    /// What names it and no other device of the world, if anything does.
    fn uid(&self) -> Option<String> {
        None
    }

    /// Which code it runs.
    fn target(&self) -> Target;

    /// What it can hold and run.
    fn limits(&self) -> Limits;

    /// Allocates; the address is a multiple of `align`, a power of two, and of 16. Contents are
    /// undefined. Size 0 gives a distinct address, too.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`]; [`Failure::Unsupported`] for a kind of memory it lacks.
    fn alloc(&self, size: u64, align: u64, memory: Memory) -> Result<u64>;

    /// Allocates for a section of the host's memory, behind so many bytes that only keep its alignment, and
    /// returns the address of the latter, which [`Device::free`] takes.
    ///
    /// # Errors
    /// As for [`Device::alloc`].
    fn alloc_behind(&self, padding: u64, size: u64, align: u64) -> Result<u64> {
        self.alloc(padding + size, align, Memory::Device)
    }

    /// Gives back what [`Device::alloc`] gave, when everything queued that uses it is done.
    ///
    /// # Errors
    /// [`Failure::Fault`] when the address is none that was allocated.
    fn free(&self, address: u64, memory: Memory) -> Result<()>;

    /// Copies from the host.
    ///
    /// # Safety
    /// `len` bytes can be read at `from` until the operation is done.
    ///
    /// # Errors
    /// [`Failure::Fault`] when the range on the device is not allocated, where that is known.
    unsafe fn upload(&self, queue: Queue, to: u64, from: *const u8, len: usize) -> Result<()>;

    /// Copies to the host.
    ///
    /// # Safety
    /// `len` bytes can be written at `to` until the operation is done.
    ///
    /// # Errors
    /// As for [`Device::upload`].
    unsafe fn download(&self, queue: Queue, to: *mut u8, from: u64, len: usize) -> Result<()>;

    /// Copies within the device; the ranges do not overlap.
    ///
    /// # Errors
    /// As for [`Device::upload`].
    fn copy(&self, queue: Queue, to: u64, from: u64, len: u64) -> Result<()>;

    /// Copies from another device of the same kind; `false` when it cannot, and the caller goes
    /// by way of the host.
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

    /// Fills with a byte.
    ///
    /// # Errors
    /// As for [`Device::upload`].
    fn fill(&self, queue: Queue, to: u64, value: u8, len: u64) -> Result<()>;

    /// Links, lowers and loads code; what it defines stays until the device is dropped.
    ///
    /// # Errors
    /// [`Failure::Image`] for a damaged image, [`Failure::Unsupported`] with the reason.
    fn load(&self, code: &Code) -> Result<Box<dyn Image>>;

    /// Starts a kernel.
    ///
    /// # Errors
    /// With [`Queue::SYNC`] everything that can go wrong in it; otherwise the start alone, and the
    /// rest at the next synchronisation.
    fn launch(&self, queue: Queue, kernel: &Kernel, launch: &Launch<'_>) -> Result<()>;

    /// Starts a kernel with [`Queue::SYNC`] without waiting for it: [`Device::finish`] does.
    ///
    /// # Errors
    /// What the start alone can find.
    fn begin(&self, kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
        self.launch(Queue::SYNC, kernel, launch)
    }

    /// Waits for what [`Device::begin`] and [`Device::fetch`] of this thread started.
    ///
    /// # Errors
    /// Everything that can go wrong in the kernel.
    fn finish(&self, _kernel: &Kernel) -> Result<()> {
        Ok(())
    }

    /// Lends a buffer of [`FETCHED`] bytes for [`Device::fetch`]; a device that gains nothing by it has none.
    fn lend(&self) -> Option<NonNull<u8>> {
        None
    }

    /// Takes a buffer of [`Device::lend`] back.
    fn take_back(&self, _buffer: NonNull<u8>) {}

    /// Copies to a buffer of [`Device::lend`] what the kernel that was begun leaves; it is there after
    /// [`Device::finish`].
    ///
    /// # Safety
    /// `to` and `len` lie within such a buffer, which is taken back after [`Device::finish`].
    ///
    /// # Errors
    /// As for [`Device::upload`].
    unsafe fn fetch(&self, to: *mut u8, from: u64, len: usize) -> Result<()> {
        // SAFETY: the caller's contract.
        unsafe { self.download(Queue::SYNC, to, from, len) }
    }

    /// A queue of its own; an idle one may be given again.
    ///
    /// # Errors
    /// [`Failure::Lost`].
    fn queue(&self) -> Result<Queue>;

    /// Takes a queue back, when everything in it is done.
    fn release(&self, queue: Queue);

    /// Waits until everything in a queue is done; [`Queue::SYNC`] means all queues.
    ///
    /// # Errors
    /// What went wrong in it.
    fn synchronise(&self, queue: Queue) -> Result<()>;

    /// Whether everything in a queue is done.
    ///
    /// # Errors
    /// What went wrong in it.
    fn idle(&self, queue: Queue) -> Result<bool>;

    /// Marks the present end of a queue.
    ///
    /// # Errors
    /// [`Failure::Lost`].
    fn record(&self, queue: Queue) -> Result<Event>;

    /// Has what follows in a queue wait for an event, which may be another queue's of this device.
    ///
    /// # Errors
    /// [`Failure::Lost`].
    fn wait(&self, queue: Queue, event: Event) -> Result<()>;

    /// Tells that host memory will be copied from and to often, so that it may be pinned. A hint.
    fn pin(&self, _start: *mut u8, _len: usize) {}

    /// Takes a hint of [`Device::pin`] back.
    fn unpin(&self, _start: *mut u8) {}

    /// How many blocks and threads a launch has, given what the program asked for (0: open) and
    /// the number of iterations (0: unknown).
    fn shape(&self, kernel: &Kernel, teams: u32, threads: u32, trip: u64) -> (u32, u32) {
        usual_shape(&self.limits(), kernel, teams, threads, trip)
    }

    /// True if its kernels can use all of the host's memory by its addresses (`unified_shared_memory`).
    fn reaches_host(&self) -> bool {
        false
    }

    /// Returns the foreign runtime's objects for a queue, for `interop` constructs; `None` for a device without one.
    fn foreign(&self, _queue: Queue) -> Option<Foreign> {
        None
    }

    /// Whether memory on it outlives a kernel that fails.
    fn survives(&self) -> bool {
        false
    }

    /// Whether an address is one of this device's, allocated or not; for diagnoses.
    fn owns(&self, address: u64) -> bool;
}

/// Code on a device.
pub trait Image: Send + Sync + Debug {
    /// A variable, or a function whose address can be taken there.
    fn symbol(&self, name: &str) -> Option<Symbol>;

    /// A kernel. Looked up once per region, then kept by the caller.
    fn kernel(&self, name: &str) -> Option<Kernel>;

    /// Returns why a kernel of the image has no code, where that is known before it starts.
    fn refusal(&self, _name: &str) -> Option<Failure> {
        None
    }
}

/// The shape of a launch for a device that knows nothing better.
pub fn usual_shape(
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
    let extra = if kernel.mode == Mode::Generic {
        limits.warp
    } else {
        0
    };
    let asked = if threads == 0 {
        limits.usual_threads
    } else {
        threads
    };
    // The environment's bounds count the extra warp.
    let threads = bound(asked.saturating_add(extra), kernel.threads).min(limits.threads_per_block);
    let per_block = match kernel.mode {
        Mode::Spmd => u64::from(threads),
        // An iteration of `distribute` is a block's.
        _ => 1,
    };
    let blocks = match (teams, trip) {
        (0, 0) => limits.usual_blocks,
        (0, trip) => u32::try_from(trip.div_ceil(per_block))
            .unwrap_or(u32::MAX)
            .min(limits.usual_blocks),
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
        threads_per_block: 1024,
        usual_blocks: 264,
        usual_threads: 128,
        blocks: 65535,
        warp: 32,
        dynamic_shared: 48 << 10,
    };

    fn kernel(mode: Mode, threads: (i32, i32), teams: (i32, i32)) -> Kernel {
        Kernel {
            handle: 0,
            mode,
            threads,
            teams,
            reduction_size: 0,
            reduction_length: 0,
            any_grid: false,
            args: 0,
        }
    }

    #[test]
    fn offload_shape_follows_trip_count_and_bounds() {
        let spmd = kernel(Mode::Spmd, (1, 128), (-1, -1));
        assert_eq!(usual_shape(&LIMITS, &spmd, 0, 0, 1000), (8, 128));
        assert_eq!(usual_shape(&LIMITS, &spmd, 3, 64, 1000), (3, 64));
        assert_eq!(usual_shape(&LIMITS, &spmd, 0, 0, 0), (264, 128));
        let generic = kernel(Mode::Generic, (1, 0), (1, 1));
        assert_eq!(usual_shape(&LIMITS, &generic, 0, 0, 0), (1, 160));
        assert_eq!(usual_shape(&LIMITS, &generic, 0, 2000, 7), (1, 1024));
    }

    #[test]
    fn offload_fault_says_where() {
        let fault = Fault {
            what: "a read".into(),
            place: Some("x.c:3".into()),
            thread: Some((1, 2)),
            help: None,
        };
        assert_eq!(fault.to_string(), "a read at x.c:3, block 1, thread 2");
    }
}
