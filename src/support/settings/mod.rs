//! Settings of ompvm itself, read from the environment once.
//!
//! [`VARIABLES`] lists every variable that ompvm reads for itself: its values, its default, its
//! meaning, and the field of [`Settings`] that it sets. The page on the environment is checked
//! against it. [`from_environment`] is called at the edge (the command line's entry, the creation
//! of an engine) and installs the value for the process; everything below takes its fields as
//! arguments. Memory, and the interpreter with its compiler, run on behalf of the whole process and
//! take them from [`current`].
//!
//! A value that cannot be parsed gets a warning and the default, as OpenMP has it for its own
//! variables: a program that runs with a wrong setting is of more use than one that does not start.
//! An empty value counts as not set.
//!
//! Leaves the variables of OpenMP and libomp to `kmpc`, which reads them at the guest's start, as
//! specified.

mod injected;
mod table;
#[cfg(test)]
mod tests;

use crate::log::{self, LogFilter};
use crate::message::{self, Kind, Message};
pub use injected::{DeviceFailure, DeviceStep, FailureKind, InjectedFailure};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;
pub use table::{Section, VARIABLES, Variable, timeout};

/// Settings of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Folder of the user's cache. `None` if the user has no home folder.
    pub cache_folder: Option<PathBuf>,
    /// Limit of the user's cache, in bytes.
    pub cache_limit: u64,
    /// True to print advice on compiling beforehand.
    pub advice: bool,
    /// True to generate loop versions that assume that arrays do not overlap.
    pub speculate: bool,
    /// True to request huge pages for large zero-initialized variables.
    pub huge_pages: bool,
    /// Offloading of parallel loops outside of `target` regions.
    pub offload: OffloadMode,
    /// Devices that `target` regions run on.
    pub devices: DeviceSelection,
    /// Devices that run the regions of the default device together.
    pub group: DeviceGroup,
    /// The library that connects the ranks of a launcher.
    pub mpi: MpiChoice,
    /// Rank and number of ranks by launchers of MPI.
    pub launcher: LauncherVariables,
    /// Memory of an emulated device, in bytes.
    pub emulated_memory: u64,
    /// True if emulated devices can access each other's memory.
    pub emulated_links: bool,
    /// Time limit of a region on an emulated device.
    pub target_timeout: Option<Duration>,
    /// File of the CUDA driver. `None` selects the system's.
    pub cuda_driver: Option<OsString>,
    /// File of the device's math library. `None` searches for it.
    pub math_library: Option<PathBuf>,
    /// Folders of CUDA installations that are searched first.
    pub cuda_folders: Vec<PathBuf>,
    /// Clang for `ompvm cc` and `ompvm c++`. `None` searches for it.
    pub clang: Option<PathBuf>,
    /// Flang for `ompvm fc`. `None` searches for it.
    pub flang: Option<PathBuf>,
    /// The ompvm that reads for embedding programs. `None` searches for it.
    pub reader: Option<PathBuf>,
    /// Time after which a deadlock is reported, if the watchdog is on.
    pub watchdog: Option<Duration>,
    /// True to allow only listed native functions.
    pub deny_native: bool,
    /// Native functions and groups that are allowed, too.
    pub allow_native: Vec<String>,
    /// Folders that the dynamic loader searches, as the process was started with them.
    pub loader_path: Option<OsString>,
    /// True if the terminal cannot erase a line.
    pub dumb_terminal: bool,
    /// Format of ompvm's messages.
    pub message_format: message::Format,
    /// Events that the log shows. `None` if there is no log.
    pub log: Option<LogFilter>,
    /// Seed of chaos mode, if on.
    pub chaos: Option<u64>,
    /// Eager compilation.
    pub eager: EagerPolicy,
    /// Functions whose names contain one of these words stay interpreted.
    pub interpret: Vec<String>,
    /// Compilation failure to inject.
    pub fail: Option<InjectedFailure>,
    /// Failure of a device to inject.
    pub fail_device: Option<DeviceFailure>,
}

/// Offloading of parallel loops outside of `target` regions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OffloadMode {
    /// Never.
    #[default]
    Off,
    /// If the device is expected to be faster.
    Auto,
    /// Whenever possible.
    Force,
}

impl OffloadMode {
    /// Parses a mode such as `auto`.
    pub fn parse(text: &str) -> Option<OffloadMode> {
        match text.trim().to_ascii_lowercase().as_str() {
            "off" | "host" | "0" => Some(OffloadMode::Off),
            "auto" => Some(OffloadMode::Auto),
            "force" => Some(OffloadMode::Force),
            _ => None,
        }
    }
}

/// Selects the devices of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceSelection {
    /// The GPUs of the machine.
    #[default]
    Hardware,
    /// The given number of emulated devices.
    Emulated(u32),
    /// The processors of the machine, as one device.
    Processors,
    /// No device.
    None,
}

impl DeviceSelection {
    /// Most emulated devices.
    pub const MOST_EMULATED: u32 = 64;

    /// Parses a device selection such as `cpu`, `emulated`, `emulated:2` or `host`.
    pub fn parse(text: &str) -> Option<DeviceSelection> {
        let text = text.trim().to_ascii_lowercase();
        match text.as_str() {
            "host" | "none" => return Some(DeviceSelection::None),
            "cpu" => return Some(DeviceSelection::Processors),
            "emulated" => return Some(DeviceSelection::Emulated(1)),
            _ => {}
        }
        let count: u32 = text.strip_prefix("emulated:")?.parse().ok()?;
        (1..=Self::MOST_EMULATED)
            .contains(&count)
            .then_some(DeviceSelection::Emulated(count))
    }
}

/// Devices that run the regions of the default device together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceGroup {
    /// The default device alone.
    #[default]
    One,
    /// All devices.
    All,
    /// All devices if they can access each other's memory, else the default device alone.
    Auto,
    /// The devices of these numbers, one bit each.
    Numbers(u64),
    /// The devices of these numbers, and the processors with them.
    WithProcessors(u64),
    /// The default device alone, where the devices of all ranks of MPI are devices of the program.
    Each,
}

impl DeviceGroup {
    /// Parses `all`, `auto`, `each`, a number of devices, or a list of device numbers such as
    /// `0,2`. `cpu` in a list, as in `all,cpu` or `0,cpu`, stands for the processors.
    pub fn parse(text: &str) -> Option<DeviceGroup> {
        let text = text.trim().to_ascii_lowercase();
        match text.as_str() {
            "all" => return Some(DeviceGroup::All),
            "auto" => return Some(DeviceGroup::Auto),
            "each" => return Some(DeviceGroup::Each),
            _ => {}
        }
        let bit = |number: u32| (number < u64::BITS).then(|| 1u64 << number);
        if !text.contains(',') {
            return match text.parse().ok()? {
                0 => None,
                1 => Some(DeviceGroup::One),
                count @ 2..=64 => Some(DeviceGroup::Numbers(u64::MAX >> (u64::BITS - count))),
                _ => None,
            };
        }
        let (mut numbers, mut processors) = (0, false);
        for part in text.split(',').map(str::trim) {
            match part {
                "" => {}
                "cpu" => processors = true,
                "all" => numbers = u64::MAX,
                number => numbers |= bit(number.parse().ok()?)?,
            }
        }
        let group = match (numbers, processors) {
            (0, _) => return None,
            (numbers, true) => DeviceGroup::WithProcessors(numbers),
            (u64::MAX, false) => DeviceGroup::All,
            (numbers, false) => DeviceGroup::Numbers(numbers),
        };
        Some(group)
    }
}

/// Selects the library that connects the ranks of a launcher.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MpiChoice {
    /// The one that belongs to the launcher.
    #[default]
    Auto,
    /// None: each process runs the program alone.
    Off,
    /// This file.
    Library(OsString),
}

impl MpiChoice {
    /// Parses `auto`, `off` or a file.
    pub fn parse(value: &OsStr) -> MpiChoice {
        match value.to_str().map(|text| text.trim().to_ascii_lowercase()) {
            Some(word) if ["off", "0", "no", "false"].contains(&&*word) => MpiChoice::Off,
            Some(word) if word == "auto" => MpiChoice::Auto,
            _ => MpiChoice::Library(value.to_owned()),
        }
    }
}

/// Rank and number of ranks, as a launcher gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankVariables {
    /// Rank of this process.
    pub rank: Option<u32>,
    /// Number of ranks.
    pub size: Option<u32>,
}

/// The variables of launchers of MPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LauncherVariables {
    /// Those of PMI (MPICH).
    pub pmi: RankVariables,
    /// Those of Open MPI.
    pub open_mpi: RankVariables,
    /// Those of Slurm.
    pub slurm: RankVariables,
    /// Rank in PMIx.
    pub pmix_rank: Option<u32>,
}

impl LauncherVariables {
    const NONE: LauncherVariables = {
        const NONE: RankVariables = RankVariables {
            rank: None,
            size: None,
        };
        LauncherVariables {
            pmi: NONE,
            open_mpi: NONE,
            slurm: NONE,
            pmix_rank: None,
        }
    };
}

/// Policy of eager compilation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EagerPolicy {
    /// On processors that are idle.
    #[default]
    Idle,
    /// On all processors.
    Always,
    /// Never.
    Never,
}

impl Settings {
    /// The settings without any variable.
    pub const DEFAULT: Settings = Settings {
        cache_folder: None,
        cache_limit: 1 << 30,
        advice: true,
        speculate: true,
        huge_pages: true,
        offload: OffloadMode::Off,
        devices: DeviceSelection::Hardware,
        group: DeviceGroup::One,
        mpi: MpiChoice::Auto,
        launcher: LauncherVariables::NONE,
        emulated_memory: 4 << 30,
        emulated_links: true,
        target_timeout: None,
        cuda_driver: None,
        math_library: None,
        cuda_folders: Vec::new(),
        clang: None,
        flang: None,
        reader: None,
        watchdog: None,
        deny_native: false,
        allow_native: Vec::new(),
        loader_path: None,
        dumb_terminal: false,
        message_format: message::Format::Text,
        log: None,
        chaos: None,
        eager: EagerPolicy::Idle,
        interpret: Vec::new(),
        fail: None,
        fail_device: None,
    };

    /// Returns the settings that variables select, and a warning, without a full stop, for each
    /// value that cannot be parsed. `lookup` returns the value of a variable.
    pub fn read(lookup: &dyn Fn(&str) -> Option<OsString>) -> (Settings, Vec<String>) {
        let mut settings = Settings::DEFAULT;
        let mut warnings = Vec::new();
        for variable in VARIABLES {
            if let Some(value) = lookup(variable.name)
                && variable.apply(&mut settings, &value).is_none()
            {
                warnings.push(variable.warning(&value));
            }
        }
        (settings, warnings)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::DEFAULT
    }
}

/// The settings without any variable.
pub const DEFAULT: &Settings = &Settings::DEFAULT;

impl Default for &Settings {
    fn default() -> Self {
        DEFAULT
    }
}

/// The process's settings, once the edge has installed them: the process has one environment.
static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Returns the process's settings, and at the first call reads them from the environment, prints
/// warnings and starts the log. Only the edge calls this: the command line and the creation of an
/// engine.
pub fn from_environment() -> &'static Settings {
    SETTINGS.get_or_init(|| {
        let (settings, warnings) = Settings::read(&|name| std::env::var_os(name));
        message::set_default_format(settings.message_format);
        for warning in warnings {
            Message::new(Kind::Warning, &warning).print();
        }
        if let Some(filter) = &settings.log {
            log::start(filter.clone());
        }
        settings
    })
}

/// Returns the process's settings: the defaults until the edge has read the environment. One load
/// and one branch, since each call of a guest from Rust asks.
#[inline]
pub fn current() -> &'static Settings {
    SETTINGS.get().unwrap_or(DEFAULT)
}
