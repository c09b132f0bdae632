//! Internal control variables (OpenMP 5.2, chapter 2).
//!
//! [`Icvs`] are those of a data environment: each implicit task has a copy that starts as its
//! parent's. [`Settings`] are those of the whole program, set once from the environment.

use ompvm_support::log;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockWriteGuard};

use crossbeam::utils::CachePadded;

use crate::affinity::places::{KmpAffinity, PlacesRequest};
use crate::affinity::{DISPLAY, format};
use crate::alloc::{DefaultAllocator, traits};
use crate::env;
use crate::runtime::RUNTIME;
use crate::thread::MAX_TEAM;
use ompvm_support::topology;

/// A loop schedule, with its kind as `omp_sched_t` numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSchedule {
    /// 1 static, 2 dynamic, 3 guided, 4 auto, 101 trapezoidal; bit 31 monotonic.
    pub kind: u32,
    /// Iterations per chunk; 0 if not given.
    pub chunk: i32,
}

/// Bit of [`RunSchedule::kind`]: chunks are handed out in increasing order.
pub const SCHEDULE_MONOTONIC: u32 = 0x8000_0000;
/// [`RunSchedule::kind`] of chunks that shrink linearly, libomp's own.
pub const TRAPEZOIDAL: u32 = 101;

/// The rest of an `nthreads-var` list, as an index into the lists of [`DeviceIcvs`]. Small, since
/// every task has a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NestedThreads(u16);

/// Control variables of the device scope, of which the host has one copy (OpenMP 5.2, section 2.4),
/// and values derived from them.
pub(crate) struct DeviceIcvs {
    settings: OnceLock<Settings>,
    /// See [`processors`]; 0 before the first call.
    processors: AtomicU32,
    /// See [`spin_micros`]; [`UNSET`] before the first call.
    spin_micros: AtomicU32,
    /// Value of `omp_set_num_teams`; -1 if not set.
    pub(crate) num_teams: AtomicI32,
    /// Value of `OMP_TARGET_OFFLOAD` that `kmp_set_defaults` set; -1 if none.
    pub(crate) target_offload: AtomicI32,
    /// Lists that were ever used: the threads of the regions one level further in, and the rest.
    nested_threads: CachePadded<RwLock<Vec<(u32, NestedThreads)>>>,
}

impl DeviceIcvs {
    /// Returns the variables before the environment is read.
    pub(crate) const fn new() -> DeviceIcvs {
        DeviceIcvs {
            settings: OnceLock::new(),
            processors: AtomicU32::new(0),
            spin_micros: AtomicU32::new(UNSET),
            num_teams: AtomicI32::new(-1),
            target_offload: AtomicI32::new(-1),
            nested_threads: CachePadded::new(RwLock::new(Vec::new())),
        }
    }
}

/// Locks the lists, for the time in which the process forks.
pub fn lock_lists() -> RwLockWriteGuard<'static, Vec<(u32, NestedThreads)>> {
    let lists = &RUNTIME.icv.nested_threads;
    lists.write().unwrap_or_else(PoisonError::into_inner)
}

impl NestedThreads {
    /// End of a list, whose last number stays in effect.
    pub const END: Self = Self(0);

    /// Returns the index of `list`; [`Self::END`] once a program has used 65,535 different ones.
    pub fn from_list(list: &[u32]) -> Self {
        let Some((&threads, rest)) = list.split_first() else {
            return Self::END;
        };
        let entry = (threads, Self::from_list(rest));
        // No code under the lock panics, so poisoning carries no information.
        let mut lists = lock_lists();
        let index = lists.iter().position(|&known| known == entry);
        let index = index.unwrap_or_else(|| {
            lists.push(entry);
            lists.len() - 1
        });
        u16::try_from(index + 1).map_or(Self::END, Self)
    }

    /// Returns the threads of the regions one level further in, and the list for those below.
    #[inline]
    pub fn split(self) -> Option<(u32, Self)> {
        if self == Self::END {
            return None;
        }
        let lists = &RUNTIME.icv.nested_threads;
        let lists = lists.read().unwrap_or_else(PoisonError::into_inner);
        lists.get(self.0 as usize - 1).copied()
    }
}

/// The control variables of one data environment.
#[derive(Clone, Copy, Debug)]
pub struct Icvs {
    /// Threads of the next parallel region; 0 is one per processor: see [`Icvs::threads`].
    pub nthreads: u32,
    /// Threads of the regions nested in it, if a list gives them.
    pub nested: NestedThreads,
    /// Maximum number of nested active parallel regions.
    pub max_active_levels: u32,
    /// Maximum number of threads of the contention group.
    pub thread_limit: u32,
    /// Schedule of `schedule(runtime)`.
    pub schedule: RunSchedule,
    /// Device of constructs without a `device` clause.
    pub default_device: i32,
    /// Maximum number of threads of each team of a `teams` construct; 0 if not given. A larger
    /// value is stored as the maximum of the type, which no team reaches.
    pub teams_thread_limit: u16,
    /// True if the runtime may give fewer threads than requested.
    pub dynamic: bool,
    /// `omp_proc_bind_t` of the next region, and [`DISPLAY`] if it reports where its threads are.
    /// Not 0 if a region has to deal with affinity.
    pub placement: u8,
    /// Default allocator.
    pub allocator: DefaultAllocator,
}

impl Icvs {
    /// Returns the number of threads of the next parallel region.
    #[inline(always)]
    pub fn threads(&self) -> u32 {
        match self.nthreads {
            0 => processors(),
            threads => threads,
        }
    }
}

impl Default for Icvs {
    fn default() -> Self {
        let settings = settings();
        Self {
            nthreads: settings.nthreads.first().copied().unwrap_or(0),
            nested: NestedThreads::from_list(settings.nthreads.get(1..).unwrap_or(&[])),
            max_active_levels: settings.max_active_levels,
            thread_limit: settings.limit(),
            schedule: settings.schedule,
            default_device: settings.default_device,
            teams_thread_limit: settings.teams_thread_limit.min(u16::MAX.into()) as u16,
            dynamic: settings.dynamic,
            placement: settings.proc_bind.first().copied().unwrap_or(0)
                | if settings.display_affinity {
                    DISPLAY
                } else {
                    0
                },
            allocator: DefaultAllocator::initial(),
        }
    }
}

/// Behavior of waiting threads (`OMP_WAIT_POLICY`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Spin, never sleep.
    Active,
    /// Sleep soon.
    Passive,
}

/// `KMP_LIBRARY`, as `kmp_get_library` numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Every region runs on its thread alone.
    Serial = 1,
    /// Waiting threads spin.
    Turnaround = 2,
    /// Waiting threads sleep after a while.
    Throughput = 3,
}

/// `OMP_TARGET_OFFLOAD`, as `__kmpc_get_target_offload` numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetOffload {
    /// Never offload.
    Disabled = 0,
    /// Offload if there is a device.
    Default = 1,
    /// Offload, or end the program.
    Mandatory = 2,
}

/// Settings of the environment, read once.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `OMP_NUM_THREADS` by nesting level; empty if not given.
    pub nthreads: Vec<u32>,
    /// `OMP_THREAD_LIMIT`.
    pub thread_limit: u32,
    /// `OMP_MAX_ACTIVE_LEVELS`.
    pub max_active_levels: u32,
    /// `OMP_DYNAMIC`.
    pub dynamic: bool,
    /// `OMP_SCHEDULE`.
    pub schedule: RunSchedule,
    /// `OMP_PROC_BIND` by nesting level; empty if not given.
    pub proc_bind: Vec<u8>,
    /// True if threads are bound to processors: a policy other than `false` was given.
    pub bind: bool,
    /// `OMP_PLACES`, if given.
    pub places: Option<PlacesRequest>,
    /// `KMP_AFFINITY` or `GOMP_CPU_AFFINITY`, if given.
    pub kmp_affinity: Option<KmpAffinity>,
    /// `KMP_HW_SUBSET`, if given.
    pub hw_subset: Option<String>,
    /// `OMP_DISPLAY_AFFINITY`.
    pub display_affinity: bool,
    /// `OMP_AFFINITY_FORMAT`.
    pub affinity_format: String,
    /// `OMP_ALLOCATOR`.
    pub allocator: traits::AllocatorRequest,
    /// `KMP_WARNINGS`.
    pub warnings: bool,
    /// `KMP_DEVICE_THREAD_LIMIT`, also called `KMP_ALL_THREADS`: threads of the whole process.
    pub device_thread_limit: u32,
    /// `KMP_TEAMS_THREAD_LIMIT`, if given: limits the teams, or the threads in all of them.
    pub kmp_teams_thread_limit: Option<u32>,
    /// `KMP_TEAMS_PROC_BIND`: placement of the initial threads of a league.
    pub kmp_teams_proc_bind: u8,
    /// `OMP_SCHEDULE` as displayed.
    pub schedule_text: String,
    /// `OMP_TARGET_OFFLOAD`.
    pub target_offload: TargetOffload,
    /// `OMP_TOOL`.
    pub tool: bool,
    /// `OMP_TOOL_LIBRARIES`.
    pub tool_libraries: Option<String>,
    /// `OMP_TOOL_VERBOSE_INIT`.
    pub tool_verbose_init: Option<String>,
    /// `KMP_LIBRARY`.
    pub library: Library,
    /// `OMP_STACKSIZE` in bytes.
    pub stack_size: usize,
    /// `OMP_WAIT_POLICY`, if given.
    pub wait_policy: Option<WaitPolicy>,
    /// `KMP_BLOCKTIME` in microseconds, if given; `u64::MAX` is infinite.
    pub blocktime_us: Option<u64>,
    /// `OMP_DEFAULT_DEVICE`.
    pub default_device: i32,
    /// `OMP_CANCELLATION`.
    pub cancellation: bool,
    /// `OMP_NUM_TEAMS`; 0 if not given.
    pub num_teams: u32,
    /// `OMP_TEAMS_THREAD_LIMIT`; 0 if not given.
    pub teams_thread_limit: u32,
    /// `KMP_ENABLE_TASK_THROTTLING`: a thread with many waiting tasks executes new ones at once.
    pub task_throttling: bool,
    /// `KMP_INHERIT_FP_CONTROL`: workers take the floating-point environment of the forking thread.
    pub inherit_fp_control: bool,
    /// `OMP_MAX_TASK_PRIORITY`.
    pub max_task_priority: i32,
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

impl Settings {
    /// Returns the settings of an empty environment.
    pub fn new() -> Self {
        Self {
            nthreads: Vec::new(),
            thread_limit: i32::MAX as u32,
            max_active_levels: 1,
            dynamic: false,
            schedule: RunSchedule { kind: 1, chunk: 0 },
            proc_bind: Vec::new(),
            bind: false,
            places: None,
            kmp_affinity: None,
            hw_subset: None,
            display_affinity: false,
            affinity_format: format::DEFAULT.to_owned(),
            allocator: traits::AllocatorRequest::Predefined(1),
            warnings: true,
            device_thread_limit: i32::MAX as u32,
            kmp_teams_thread_limit: None,
            kmp_teams_proc_bind: 4,
            schedule_text: "static".to_owned(),
            target_offload: TargetOffload::Default,
            tool: true,
            tool_libraries: None,
            tool_verbose_init: None,
            library: Library::Throughput,
            stack_size: 8 << 20,
            wait_policy: None,
            blocktime_us: None,
            default_device: 0,
            cancellation: false,
            num_teams: 0,
            teams_thread_limit: 0,
            task_throttling: true,
            inherit_fp_control: true,
            max_task_priority: 0,
        }
    }

    /// Returns the maximum number of threads of a contention group.
    fn limit(&self) -> u32 {
        match self.library {
            Library::Serial => 1,
            _ => self.thread_limit.min(self.device_thread_limit),
        }
    }

    /// Returns the default number of threads of an outermost region on `processors` processors.
    pub fn team(&self, processors: u32) -> u32 {
        let threads = self.nthreads.first().copied().unwrap_or(processors);
        threads.min(self.limit()).clamp(1, MAX_TEAM)
    }

    /// Returns the `proc_bind` that a region at nesting level `level` passes to its implicit tasks;
    /// `None` if the environment's list has no value for them.
    pub fn proc_bind_below(&self, level: u32) -> Option<u8> {
        self.proc_bind.get(level as usize).copied()
    }
}

/// Returns the program's settings; the first call reads the environment and prints warnings about
/// it.
pub fn settings() -> &'static Settings {
    RUNTIME.icv.settings.get_or_init(|| {
        let mut warnings = Vec::new();
        let settings = of_environment(&mut |warning| warnings.push(warning));
        for warning in warnings.iter().filter(|_| settings.warnings) {
            ompvm_support::eprintln!("OMP: Warning {warning}");
        }
        env::display::at_start(&settings);
        tracing::info!(
            target: log::KMPC,
            threads = ?settings.nthreads,
            bind = settings.bind,
            stack_size = settings.stack_size,
            warnings = warnings.len(),
            "read the environment"
        );
        settings
    })
}

/// Reads the environment; `warn` receives its errors.
pub fn of_environment(warn: &mut dyn FnMut(String)) -> Settings {
    let mut settings = Settings::new();
    env::read(&mut settings, &|name| std::env::var(name).ok(), warn);
    settings
}

/// Prints a warning, prefixed by its libomp number, unless `KMP_WARNINGS` turns warnings off.
pub fn warn(text: &str) {
    if settings().warnings {
        ompvm_support::eprintln!("OMP: Warning {text}");
    }
}

/// Returns the number of processors useful to the program. The first call decides, from the
/// affinity mask that the calling thread has then. Only entries that need the number call this,
/// because compilers move `__kmpc_global_thread_num` to a function's start, before the program may
/// have narrowed its mask.
#[inline]
pub fn processors() -> u32 {
    match RUNTIME.icv.processors.load(Ordering::Relaxed) {
        0 => first_processors(),
        processors => processors,
    }
}

#[cold]
fn first_processors() -> u32 {
    let processors = topology::program_usable() as u32;
    RUNTIME.icv.processors.store(processors, Ordering::Relaxed);
    tracing::info!(target: log::KMPC, processors, "counted the processors");
    processors
}

/// Value of a spinning time that is not determined yet.
const UNSET: u32 = u32::MAX - 1;

/// Returns for how many microseconds a thread spins before it sleeps, in a team that fits on the
/// processors; `u32::MAX` is without limit.
#[inline]
pub fn spin_micros() -> u32 {
    match RUNTIME.icv.spin_micros.load(Ordering::Relaxed) {
        UNSET => first_spin_micros(),
        micros => micros,
    }
}

#[cold]
fn first_spin_micros() -> u32 {
    let micros = spin_micros_of(settings());
    RUNTIME.icv.spin_micros.store(micros, Ordering::Relaxed);
    micros
}

/// Returns the initial value of [`spin_micros`].
pub fn spin_micros_of(settings: &Settings) -> u32 {
    let policy = settings.wait_policy.or(match settings.library {
        Library::Turnaround => Some(WaitPolicy::Active),
        _ => None,
    });
    match (policy, settings.blocktime_us) {
        (_, Some(u64::MAX)) => u32::MAX,
        (_, Some(us)) => us.min(UNSET as u64 - 1) as u32,
        (Some(WaitPolicy::Active), None) => u32::MAX,
        (Some(WaitPolicy::Passive), None) => 0,
        (None, None) => 5_000,
    }
}

/// Sets the spinning time in milliseconds (`kmp_set_blocktime`).
pub fn set_blocktime_ms(ms: i32) {
    let micros = match ms {
        i32::MAX => u32::MAX,
        ms => (ms.max(0) as u32).saturating_mul(1000).min(UNSET - 1),
    };
    RUNTIME.icv.spin_micros.store(micros, Ordering::Relaxed);
}
