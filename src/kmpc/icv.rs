//! Internal control variables (OpenMP 5.2, chapter 2).
//!
//! [`Icvs`] are those of a data environment: each implicit task has a copy that starts as its
//! parent's. [`Settings`] are those of the whole program, set once from the environment.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockWriteGuard};

use crate::kmpc::affinity::places::{KmpAffinity, Request};
use crate::kmpc::affinity::{DISPLAY, format};
use crate::kmpc::alloc::{DefaultAllocator, traits};
use crate::kmpc::env;
use crate::kmpc::thread::MAX_TEAM;
use crate::support::topology;

/// A loop schedule's kind, as `omp_sched_t` numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSchedule {
    /// 1 static, 2 dynamic, 3 guided, 4 auto, 101 trapezoidal; bit 31 monotonic.
    pub kind: u32,
    /// Iterations per chunk; 0 where not given.
    pub chunk: i32,
}

/// Bit of [`RunSchedule::kind`]: chunks are handed out in increasing order.
pub const SCHEDULE_MONOTONIC: u32 = 0x8000_0000;
/// [`RunSchedule::kind`] of chunks that shrink linearly, libomp's own.
pub const TRAPEZOIDAL: u32 = 101;

/// The rest of a list of `nthreads-var`, by its number among those that were ever used: small,
/// since every task has a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NestedThreads(u16);

/// What [`NestedThreads`] number: threads of the regions one level further in, and the rest.
static LISTS: RwLock<Vec<(u32, NestedThreads)>> = RwLock::new(Vec::new());

/// The lists, held while the process forks.
pub fn hold() -> RwLockWriteGuard<'static, Vec<(u32, NestedThreads)>> {
    LISTS.write().unwrap_or_else(PoisonError::into_inner)
}

impl NestedThreads {
    /// The list is at its end: its last number stays.
    pub const END: Self = Self(0);

    /// The number of `list`. Programs that use more than 65,535 different ones get the end of it.
    pub fn of(list: &[u32]) -> Self {
        let Some((&threads, rest)) = list.split_first() else {
            return Self::END;
        };
        let entry = (threads, Self::of(rest));
        // Nothing under the lock panics, so poison means nothing.
        let mut lists = hold();
        let index = lists.iter().position(|&known| known == entry);
        let index = index.unwrap_or_else(|| {
            lists.push(entry);
            lists.len() - 1
        });
        u16::try_from(index + 1).map_or(Self::END, Self)
    }

    /// The threads of the regions one level further in, and what is left for those below.
    #[inline]
    pub fn split(self) -> Option<(u32, Self)> {
        if self == Self::END {
            return None;
        }
        let lists = LISTS.read().unwrap_or_else(PoisonError::into_inner);
        lists.get(self.0 as usize - 1).copied()
    }
}

/// The control variables of one data environment.
#[derive(Clone, Copy, Debug)]
pub struct Icvs {
    /// Threads of the next parallel region; 0 is one for each processor: see [`Icvs::threads`].
    pub nthreads: u32,
    /// Threads of the regions in it, where a list says so.
    pub nested: NestedThreads,
    /// Active parallel regions that may be nested.
    pub max_active_levels: u32,
    /// Threads of the contention group.
    pub thread_limit: u32,
    /// Schedule of `schedule(runtime)`.
    pub schedule: RunSchedule,
    /// Device of constructs without a `device` clause.
    pub default_device: i32,
    /// Threads of each team of a `teams` construct; 0 where not given. There are never as many as
    /// the largest number of this type, which stands for more.
    pub teams_thread_limit: u16,
    /// The runtime may give fewer threads than asked for.
    pub dynamic: bool,
    /// `omp_proc_bind_t` of the next region, and whether it says where its threads are
    /// ([`DISPLAY`]): not 0 where a region has anything to do about affinity.
    pub placement: u8,
    /// The allocator of those who name none.
    pub allocator: DefaultAllocator,
}

impl Icvs {
    /// Threads of the next parallel region.
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
            nested: NestedThreads::of(settings.nthreads.get(1..).unwrap_or(&[])),
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

/// How waiting threads behave (`OMP_WAIT_POLICY`).
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
    /// Never.
    Disabled = 0,
    /// Where there is a device.
    Default = 1,
    /// Or end the program.
    Mandatory = 2,
}

/// What the environment says, read once.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `OMP_NUM_THREADS` by nesting level; empty where not given.
    pub nthreads: Vec<u32>,
    /// `OMP_THREAD_LIMIT`.
    pub thread_limit: u32,
    /// `OMP_MAX_ACTIVE_LEVELS`.
    pub max_active_levels: u32,
    /// `OMP_DYNAMIC`.
    pub dynamic: bool,
    /// `OMP_SCHEDULE`.
    pub schedule: RunSchedule,
    /// `OMP_PROC_BIND` by nesting level; empty where not given.
    pub proc_bind: Vec<u8>,
    /// Bind threads to processors: a policy other than `false` was asked for.
    pub bind: bool,
    /// `OMP_PLACES`, where given.
    pub places: Option<Request>,
    /// `KMP_AFFINITY` or `GOMP_CPU_AFFINITY`, where given.
    pub kmp_affinity: Option<KmpAffinity>,
    /// `KMP_HW_SUBSET`, where given.
    pub hw_subset: Option<String>,
    /// `OMP_DISPLAY_AFFINITY`.
    pub display_affinity: bool,
    /// `OMP_AFFINITY_FORMAT`.
    pub affinity_format: String,
    /// `OMP_ALLOCATOR`.
    pub allocator: traits::Request,
    /// `KMP_WARNINGS`.
    pub warnings: bool,
    /// `KMP_DEVICE_THREAD_LIMIT`, also called `KMP_ALL_THREADS`: threads of the whole process.
    pub device_thread_limit: u32,
    /// `KMP_TEAMS_THREAD_LIMIT`, where given: teams, or threads in all of them.
    pub kmp_teams_thread_limit: Option<u32>,
    /// `KMP_TEAMS_PROC_BIND`: how the initial threads of a league are placed.
    pub kmp_teams_proc_bind: u8,
    /// `OMP_SCHEDULE` as it is shown.
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
    /// `OMP_WAIT_POLICY`, where given.
    pub wait_policy: Option<WaitPolicy>,
    /// `KMP_BLOCKTIME` in microseconds, where given; `u64::MAX` is infinite.
    pub blocktime_us: Option<u64>,
    /// `OMP_DEFAULT_DEVICE`.
    pub default_device: i32,
    /// `OMP_CANCELLATION`.
    pub cancellation: bool,
    /// `OMP_NUM_TEAMS`; 0 where not given.
    pub num_teams: u32,
    /// `OMP_TEAMS_THREAD_LIMIT`; 0 where not given.
    pub teams_thread_limit: u32,
    /// `KMP_ENABLE_TASK_THROTTLING`: who has many tasks waiting executes new ones at once.
    pub task_throttling: bool,
    /// `KMP_INHERIT_FP_CONTROL`: workers take the floating-point environment of the thread that forks.
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
    /// The settings of an empty environment.
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
            allocator: traits::Request::Predefined(1),
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

    /// Threads of a contention group at most.
    fn limit(&self) -> u32 {
        match self.library {
            Library::Serial => 1,
            _ => self.thread_limit.min(self.device_thread_limit),
        }
    }

    /// Threads of an outermost region on so many processors where the program says nothing else.
    pub fn team(&self, processors: u32) -> u32 {
        let threads = self.nthreads.first().copied().unwrap_or(processors);
        threads.min(self.limit()).clamp(1, MAX_TEAM)
    }

    /// The `proc_bind` a region at nesting level `level` passes to its implicit tasks, where the
    /// environment's list has a value for them.
    pub fn proc_bind_below(&self, level: u32) -> Option<u8> {
        self.proc_bind.get(level as usize).copied()
    }
}

/// The program's settings; the first call reads the environment and prints warnings about it.
pub fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let mut warnings = Vec::new();
        let settings = of_environment(&mut |warning| warnings.push(warning));
        for warning in warnings.iter().filter(|_| settings.warnings) {
            eprintln!("OMP: Warning {warning}");
        }
        env::display::at_start(&settings);
        settings
    })
}

/// What the environment says; `warn` hears what is wrong with it.
pub fn of_environment(warn: &mut dyn FnMut(String)) -> Settings {
    let mut settings = Settings::new();
    env::read(&mut settings, &|name| std::env::var(name).ok(), warn);
    settings
}

/// Prints a warning, with libomp's number of it in front, unless `KMP_WARNINGS` turns them off.
pub fn warn(text: &str) {
    if settings().warnings {
        eprintln!("OMP: Warning {text}");
    }
}

/// See [`processors`]; 0 before the first call.
static PROCESSORS: AtomicU32 = AtomicU32::new(0);

/// Returns the number of processors useful to the program. The first call decides, with the affinity mask that the
/// calling thread has then. Only entries that need the number ask for it: compilers move
/// `__kmpc_global_thread_num` to a function's start, before the program may have narrowed its mask.
#[inline]
pub fn processors() -> u32 {
    match PROCESSORS.load(Ordering::Relaxed) {
        0 => first_processors(),
        processors => processors,
    }
}

#[cold]
fn first_processors() -> u32 {
    let processors = topology::program_usable() as u32;
    PROCESSORS.store(processors, Ordering::Relaxed);
    processors
}

/// `omp_set_num_teams`.
pub static NUM_TEAMS: AtomicI32 = AtomicI32::new(-1);

/// Microseconds a waiting thread spins, once computed.
static SPIN_MICROS: AtomicU32 = AtomicU32::new(UNSET);
const UNSET: u32 = u32::MAX - 1;

/// Microseconds a thread of a team that fits on the processors spins before it sleeps; `u32::MAX`
/// is without end.
#[inline]
pub fn spin_micros() -> u32 {
    match SPIN_MICROS.load(Ordering::Relaxed) {
        UNSET => first_spin_micros(),
        micros => micros,
    }
}

#[cold]
fn first_spin_micros() -> u32 {
    let micros = spin_micros_of(settings());
    SPIN_MICROS.store(micros, Ordering::Relaxed);
    micros
}

/// What [`spin_micros`] is at the start.
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

/// `kmp_set_blocktime`: sets the spinning time in milliseconds.
pub fn set_blocktime_ms(ms: i32) {
    let micros = match ms {
        i32::MAX => u32::MAX,
        ms => (ms.max(0) as u32).saturating_mul(1000).min(UNSET - 1),
    };
    SPIN_MICROS.store(micros, Ordering::Relaxed);
}
