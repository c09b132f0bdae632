//! Settings of ompvm itself, read from the environment once.
//!
//! [`VARIABLES`] lists every variable that ompvm reads for itself: its values, its default, its
//! meaning, and the field of [`Settings`] that it sets. The page on the environment is checked
//! against it. [`from_environment`] is called at the edge (the command line's entry, the creation of
//! an engine) and installs the value for the process; everything below takes its fields as
//! arguments, or from [`current`] where no call passes them: memory, the interpreter's lowering and
//! the reader run on behalf of the whole process.
//!
//! A value that cannot be parsed gets a warning and the default, as OpenMP has it for its own
//! variables: a program that runs with a wrong setting is of more use than one that does not start.
//! An empty value counts as not set, except for flags and `OMPVM_DUMP`.
//!
//! Leaves the variables of OpenMP and libomp to `kmpc`, which reads them at the guest's start, as
//! specified.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

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
    /// Memory of an emulated device, in bytes.
    pub emulated_memory: u64,
    /// Time limit of a region on an emulated device.
    pub target_timeout: Option<Duration>,
    /// File of the CUDA driver. `None` selects the system's.
    pub cuda_driver: Option<OsString>,
    /// File of the device's math library. `None` searches for it.
    pub math_library: Option<PathBuf>,
    /// Folders of CUDA installations that are searched first.
    pub cuda_folders: Vec<PathBuf>,
    /// Folders that the dynamic loader searches, as the process was started with them.
    pub loader_path: Option<OsString>,
    /// Seed of chaos mode, if on.
    pub chaos: Option<u64>,
    /// Eager compilation.
    pub eager: EagerPolicy,
    /// Functions whose names contain one of these words stay interpreted.
    pub interpret: Vec<String>,
    /// Compilation failure to inject.
    pub fail: Option<InjectedFailure>,
    /// True to print the times of the baseline compiler.
    pub baseline_times: bool,
    /// Word in the names of the functions whose bytecode is printed.
    pub dump_bytecode: Option<String>,
    /// True to print the IR of each unit before its passes.
    pub dump_ir: bool,
    /// File that receives the IR of an emulated device image.
    pub dump_device: Option<PathBuf>,
    /// File that receives the IR of auto-offload kernels.
    pub dump_kernels: Option<PathBuf>,
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
    /// No device.
    None,
}

impl DeviceSelection {
    /// Most emulated devices.
    const MOST: u32 = 64;

    /// Parses a device selection such as `emulated`, `emulated:2` or `host`.
    pub fn parse(text: &str) -> Option<DeviceSelection> {
        let text = text.trim().to_ascii_lowercase();
        match text.as_str() {
            "host" | "none" => return Some(DeviceSelection::None),
            "emulated" => return Some(DeviceSelection::Emulated(1)),
            _ => {}
        }
        let count: u32 = text.strip_prefix("emulated:")?.parse().ok()?;
        (1..=Self::MOST)
            .contains(&count)
            .then_some(DeviceSelection::Emulated(count))
    }
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

/// A compilation failure to inject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectedFailure {
    /// Kind of the failure.
    pub kind: FailureKind,
    /// True if only code of the full level fails.
    pub full: bool,
    /// Word in the names of the functions whose compilation fails.
    pub name: String,
}

impl InjectedFailure {
    fn parse(text: &str) -> Option<InjectedFailure> {
        let (kind, name) = text.split_once(':')?;
        let full = kind.strip_suffix("@full");
        Some(InjectedFailure {
            kind: FailureKind::parse(full.unwrap_or(kind))?,
            full: full.is_some(),
            name: name.to_owned(),
        })
    }
}

/// A way in which LLVM fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// It ends the process.
    Fatal,
    /// It reports an error.
    Error,
    /// It accesses memory that does not exist.
    Crash,
    /// It aborts.
    Abort,
    /// It exhausts the stack.
    Overflow,
    /// It exhausts the memory.
    Memory,
    /// It does not end.
    Endless,
    /// Its passes make the code far larger.
    Grow,
}

impl FailureKind {
    fn parse(text: &str) -> Option<FailureKind> {
        Some(match text {
            "fatal" => FailureKind::Fatal,
            "error" => FailureKind::Error,
            "crash" => FailureKind::Crash,
            "abort" => FailureKind::Abort,
            "overflow" => FailureKind::Overflow,
            "memory" => FailureKind::Memory,
            "endless" => FailureKind::Endless,
            "grow" => FailureKind::Grow,
            _ => return None,
        })
    }
}

/// Section of the page on the environment that lists a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// For users.
    Use,
    /// For tests and for work on ompvm.
    Development,
    /// Variables that other programs define.
    Other,
}

/// A variable of the environment that sets a field of [`Settings`].
#[derive(Debug)]
pub struct Variable {
    /// Name.
    pub name: &'static str,
    /// Section of the page on the environment.
    pub section: Section,
    /// Accepted values: a noun phrase in Markdown.
    pub values: &'static str,
    /// Setting without the variable, in Markdown.
    pub default: &'static str,
    /// Meaning: one line in Markdown.
    pub meaning: &'static str,
    /// Conversion of the value.
    parser: Parser,
}

/// Conversion of a variable's value into a field.
#[derive(Debug)]
enum Parser {
    /// On if the variable is set, unless to `0` or another word for off.
    Flag(fn(&mut Settings) -> &mut bool),
    /// `0`, `1`, or another word for off or on.
    Switch(fn(&mut Settings) -> &mut bool),
    /// Text that is not empty. Returns `None` if it cannot be parsed.
    Text(fn(&mut Settings, &str) -> Option<()>),
    /// Text that may be empty.
    AnyText(fn(&mut Settings, &str)),
    /// A path or another value that need not be text, and is not empty.
    Path(fn(&mut Settings, &OsStr)),
}

/// Every variable that ompvm reads for itself. Where several set one field, the first that is set
/// wins.
pub static VARIABLES: [Variable; 26] = [
    Variable {
        name: "OMPVM_CACHE_DIR",
        section: Section::Use,
        values: "a folder",
        default: "`ompvm` in `$XDG_CACHE_HOME` or `~/.cache`",
        meaning: "folder of the [cache](cache-and-tiers.md#cache)",
        parser: Parser::Path(|s, v| s.cache_folder = Some(v.into())),
    },
    Variable {
        name: "OMPVM_CACHE_LIMIT",
        section: Section::Use,
        values: "a size such as `500M`",
        default: "`1G`",
        meaning: "size limit of the cache",
        parser: Parser::Text(|s, v| set(&mut s.cache_limit, size(v))),
    },
    Variable {
        name: "OMPVM_ADVICE",
        section: Section::Use,
        values: "`on` or `off`",
        default: "`on`",
        meaning: "`off`, as `--no-advice`: leaves out the line that a run prints on a terminal after it spent over a fifth of its processor time in compiling on full processors",
        parser: Parser::Switch(|s| &mut s.advice),
    },
    Variable {
        name: "OMPVM_SPECULATE",
        section: Section::Use,
        values: "`1` or `0`",
        default: "`1`",
        meaning: "`0`: no loop versions that assume that arrays do not overlap",
        parser: Parser::Switch(|s| &mut s.speculate),
    },
    Variable {
        name: "OMPVM_HUGE_PAGES",
        section: Section::Use,
        values: "`1` or `0`",
        default: "`1`",
        meaning: "`0`: no huge pages for large zero-initialized variables",
        parser: Parser::Switch(|s| &mut s.huge_pages),
    },
    Variable {
        name: "OMPVM_OFFLOAD",
        section: Section::Use,
        values: "`off`, `auto` or `force`",
        default: "`off`",
        meaning: "runs parallel loops outside of `target` regions on devices, as `--offload`",
        parser: Parser::Text(|s, v| set(&mut s.offload, OffloadMode::parse(v))),
    },
    Variable {
        name: "OMPVM_DEVICE",
        section: Section::Use,
        values: "`emulated`, `emulated:N` (N up to 64) or `host`",
        default: "the GPUs of the machine",
        meaning: "devices that `target` regions run on, as `--device`",
        parser: Parser::Text(|s, v| set(&mut s.devices, DeviceSelection::parse(v))),
    },
    Variable {
        name: "OMPVM_EMULATED_MEMORY",
        section: Section::Use,
        values: "a size such as `64M`",
        default: "`4G`",
        meaning: "memory of an emulated device",
        parser: Parser::Text(|s, v| set(&mut s.emulated_memory, size(v))),
    },
    Variable {
        name: "OMPVM_TARGET_TIMEOUT",
        section: Section::Use,
        values: "a number of seconds such as `0.5`",
        default: "no limit",
        meaning: "time that a region may take on an emulated device; `0`: no limit",
        parser: Parser::Text(|s, v| set(&mut s.target_timeout, timeout(v))),
    },
    Variable {
        name: "OMPVM_CUDA_DRIVER",
        section: Section::Use,
        values: "a file",
        default: "`libcuda.so.1`",
        meaning: "shared library of the CUDA driver",
        parser: Parser::Path(|s, v| s.cuda_driver = Some(v.into())),
    },
    Variable {
        name: "OMPVM_LIBDEVICE",
        section: Section::Use,
        values: "a file",
        default: "the first that is [found](devices.md)",
        meaning: "math library for GPUs",
        parser: Parser::Path(|s, v| s.math_library = Some(v.into())),
    },
    Variable {
        name: "OMPVM_CHAOS",
        section: Section::Development,
        values: "a seed, a number from 0 on",
        default: "off",
        meaning: "changes tiers and schedules at random points",
        parser: Parser::Text(|s, v| set(&mut s.chaos, v.trim().parse().ok().map(Some))),
    },
    Variable {
        name: "OMPVM_AHEAD",
        section: Section::Development,
        values: "`always` or `never`",
        default: "on idle processors",
        meaning: "eager compilation regardless of processors",
        parser: Parser::Text(|s, v| {
            let policy = match v {
                "always" => Some(EagerPolicy::Always),
                "never" => Some(EagerPolicy::Never),
                _ => None,
            };
            set(&mut s.eager, policy)
        }),
    },
    Variable {
        name: "OMPVM_INTERPRET",
        section: Section::Development,
        values: "words, separated by commas",
        default: "none",
        meaning: "functions whose names contain one of the words stay interpreted",
        parser: Parser::Text(|s, v| {
            let words = v.split(',').filter(|word| !word.is_empty());
            s.interpret = words.map(str::to_owned).collect();
            Some(())
        }),
    },
    Variable {
        name: "OMPVM_FAIL",
        section: Section::Development,
        values: "`KIND:NAME` or `KIND@full:NAME` with a KIND of `fatal`, `error`, `crash`, `abort`, `overflow`, `memory`, `endless` or `grow`",
        default: "none",
        meaning: "compilations of functions whose names contain `NAME` fail, see [Tests](contributing/tests.md)",
        parser: Parser::Text(|s, v| set(&mut s.fail, InjectedFailure::parse(v).map(Some))),
    },
    Variable {
        name: "OMPVM_BASELINE",
        section: Section::Development,
        values: "anything but `0`",
        default: "off",
        meaning: "prints size, address and time of each compilation of the baseline compiler",
        parser: Parser::Flag(|s| &mut s.baseline_times),
    },
    Variable {
        name: "OMPVM_DUMP",
        section: Section::Development,
        values: "a word; empty for all functions",
        default: "off",
        meaning: "prints the bytecode of functions whose names contain the word",
        parser: Parser::AnyText(|s, v| s.dump_bytecode = Some(v.into())),
    },
    Variable {
        name: "OMPVM_DUMP_IR",
        section: Section::Development,
        values: "anything but `0`",
        default: "off",
        meaning: "prints the IR of each unit before its passes",
        parser: Parser::Flag(|s| &mut s.dump_ir),
    },
    Variable {
        name: "OMPVM_DUMP_DEVICE",
        section: Section::Development,
        values: "a file",
        default: "off",
        meaning: "writes the IR of an emulated device image",
        parser: Parser::Path(|s, v| s.dump_device = Some(v.into())),
    },
    Variable {
        name: "OMPVM_DUMP_OUTLINED",
        section: Section::Development,
        values: "a file",
        default: "off",
        meaning: "writes the IR of auto-offload kernels",
        parser: Parser::Path(|s, v| s.dump_kernels = Some(v.into())),
    },
    Variable {
        name: "OMP_DEFAULT_DEVICE",
        section: Section::Other,
        values: "as for `OMPVM_DEVICE`, or a number",
        default: "as for `OMPVM_DEVICE`",
        meaning: "selects devices like `OMPVM_DEVICE`; OpenMP takes numbers",
        parser: Parser::Text(|s, v| {
            // `kmpc` reads numbers, and reports what is neither.
            if let Some(devices) = DeviceSelection::parse(v)
                && s.devices == DeviceSelection::Hardware
            {
                s.devices = devices;
            }
            Some(())
        }),
    },
    Variable {
        name: "XDG_CACHE_HOME",
        section: Section::Other,
        values: "an absolute path",
        default: "`~/.cache`",
        meaning: "folder of the user's caches",
        parser: Parser::Path(|s, v| cache_in(s, v.into())),
    },
    Variable {
        name: "HOME",
        section: Section::Other,
        values: "an absolute path",
        default: "no cache",
        meaning: "the user's folder",
        parser: Parser::Path(|s, v| cache_in(s, PathBuf::from(v).join(".cache"))),
    },
    Variable {
        name: "CUDA_HOME",
        section: Section::Other,
        values: "a folder",
        default: "none",
        meaning: "a CUDA installation, searched for libdevice",
        parser: Parser::Path(|s, v| s.cuda_folders.push(v.into())),
    },
    Variable {
        name: "CUDA_PATH",
        section: Section::Other,
        values: "a folder",
        default: "none",
        meaning: "as `CUDA_HOME`",
        parser: Parser::Path(|s, v| s.cuda_folders.push(v.into())),
    },
    Variable {
        name: "LD_LIBRARY_PATH",
        section: Section::Other,
        values: "folders, separated by colons",
        default: "none",
        meaning: "folders that the dynamic loader searches; the cache's choice of libraries depends on it",
        parser: Parser::Path(|s, v| s.loader_path = Some(v.into())),
    },
];

/// Stores a parsed value; `None` if there is none.
fn set<T>(field: &mut T, value: Option<T>) -> Option<()> {
    *field = value?;
    Some(())
}

/// Places the cache in the user's folder of caches, unless it has a folder. Relative paths are
/// invalid and ignored, as the XDG base directory specification has it.
fn cache_in(settings: &mut Settings, caches: PathBuf) {
    if settings.cache_folder.is_none() && caches.is_absolute() {
        settings.cache_folder = Some(caches.join("ompvm"));
    }
}

/// Parses a number of bytes: digits, then nothing, `B`, `K`, `M` or `G`, also as in `KB` and `KiB`.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text[digits.len()..].trim().to_ascii_lowercase();
    let shift = match unit.strip_suffix("ib").or(unit.strip_suffix('b')) {
        Some(letter) => letter,
        None => &unit,
    };
    let shift = match shift {
        "" if unit == "ib" => return None,
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Parses a time limit in seconds; 0, or more than any clock counts, is none.
fn timeout(text: &str) -> Option<Option<Duration>> {
    let seconds: f64 = text.trim().parse().ok()?;
    if seconds.is_nan() || seconds < 0.0 {
        return None;
    }
    let limit = Duration::try_from_secs_f64(seconds).ok();
    Some(limit.filter(|limit| !limit.is_zero()))
}

/// Parses a word for on or off.
fn switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "on" | "true" | "yes" => Some(true),
        "0" | "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

impl Variable {
    /// Sets the field to a value of the variable. Returns `None` if it cannot be parsed.
    fn apply(&self, settings: &mut Settings, value: &OsStr) -> Option<()> {
        if value.is_empty() && !matches!(self.parser, Parser::Flag(_) | Parser::AnyText(_)) {
            return Some(());
        }
        match self.parser {
            Parser::Flag(field) => {
                *field(settings) = value.to_str().and_then(switch).unwrap_or(true);
            }
            Parser::Switch(field) => *field(settings) = switch(value.to_str()?)?,
            Parser::Text(parse) => parse(settings, value.to_str()?)?,
            Parser::AnyText(parse) => parse(settings, value.to_str()?),
            Parser::Path(parse) => parse(settings, value),
        }
        Some(())
    }

    /// Returns the warning about a value that cannot be parsed.
    fn warning(&self, value: &OsStr) -> String {
        let plain = |markdown: &str| markdown.replace('`', "");
        format!(
            "{}={:?} is not {}; using the default ({})",
            self.name,
            value.to_string_lossy(),
            plain(self.values),
            plain(self.default)
        )
    }
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
        emulated_memory: 4 << 30,
        target_timeout: None,
        cuda_driver: None,
        math_library: None,
        cuda_folders: Vec::new(),
        loader_path: None,
        chaos: None,
        eager: EagerPolicy::Idle,
        interpret: Vec::new(),
        fail: None,
        baseline_times: false,
        dump_bytecode: None,
        dump_ir: false,
        dump_device: None,
        dump_kernels: None,
    };

    /// Returns the settings that variables select, and a warning, without a full stop, for each
    /// value that cannot be parsed. `lookup` returns the value of a variable.
    pub fn read(lookup: &dyn Fn(&str) -> Option<OsString>) -> (Settings, Vec<String>) {
        let mut settings = Settings::DEFAULT;
        let mut warnings = Vec::new();
        for variable in &VARIABLES {
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
pub static DEFAULT: Settings = Settings::DEFAULT;

impl Default for &Settings {
    fn default() -> Self {
        &DEFAULT
    }
}

/// The process's settings, once the edge has installed them.
static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Returns the process's settings, and at the first call reads them from the environment and prints
/// warnings. Only the edge calls this: the command line and the creation of an engine.
pub fn from_environment() -> &'static Settings {
    SETTINGS.get_or_init(|| {
        let (settings, warnings) = Settings::read(&|name| std::env::var_os(name));
        for warning in warnings {
            eprintln!("ompvm: warning: {warning}");
        }
        settings
    })
}

/// Returns the process's settings: the defaults until the edge has read the environment. One load
/// and one branch, since each call of a guest from Rust asks.
#[inline]
pub fn current() -> &'static Settings {
    SETTINGS.get().unwrap_or(&DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::os::unix::ffi::OsStrExt;

    fn read(variables: &[(&str, &str)]) -> (Settings, Vec<String>) {
        Settings::read(&|name| {
            let found = variables.iter().find(|v| v.0 == name);
            found.map(|v| v.1.into())
        })
    }

    /// Returns the settings of one variable, which must be understood.
    fn understood(name: &str, value: &str) -> Settings {
        let (settings, warnings) = read(&[(name, value)]);
        assert!(warnings.is_empty(), "{warnings:?}");
        settings
    }

    #[test]
    fn without_variables_the_defaults_apply() {
        assert_eq!(read(&[]), (Settings::DEFAULT, Vec::new()));
    }

    #[test]
    fn names_are_unique_and_rows_complete() {
        let names: HashSet<_> = VARIABLES.iter().map(|v| v.name).collect();
        assert_eq!(names.len(), VARIABLES.len());
        for v in &VARIABLES {
            for text in [v.values, v.default, v.meaning] {
                assert!(!text.is_empty() && !text.contains('|'), "{}", v.name);
                assert!(!text.ends_with('.'), "{}", v.name);
            }
            assert_eq!(v.section != Section::Other, v.name.starts_with("OMPVM_"));
        }
    }

    #[test]
    fn the_defaults_in_the_table_are_those_of_the_code() {
        for (name, default) in [
            ("OMPVM_CACHE_LIMIT", 1 << 30),
            ("OMPVM_EMULATED_MEMORY", 4 << 30),
        ] {
            let row = VARIABLES.iter().find(|v| v.name == name).unwrap();
            assert_eq!(size(&row.default.replace('`', "")), Some(default));
        }
        for row in &VARIABLES {
            if matches!(row.parser, Parser::Switch(_)) {
                let settings = understood(row.name, &row.default.replace('`', ""));
                assert_eq!(settings, Settings::DEFAULT, "{}", row.name);
            }
        }
    }

    #[test]
    fn an_empty_value_counts_as_not_set() {
        for row in &VARIABLES {
            let set = matches!(row.parser, Parser::Flag(_) | Parser::AnyText(_));
            let settings = understood(row.name, "");
            assert_eq!(settings != Settings::DEFAULT, set, "{}", row.name);
        }
        assert!(understood("OMPVM_DUMP_IR", "").dump_ir);
        assert_eq!(
            understood("OMPVM_DUMP", "").dump_bytecode.as_deref(),
            Some("")
        );
    }

    #[test]
    fn each_typed_value_is_parsed() {
        let seconds = |s| understood("OMPVM_TARGET_TIMEOUT", s).target_timeout;
        assert_eq!(seconds(" 0.5"), Some(Duration::from_millis(500)));
        assert_eq!(seconds("0"), None);
        assert_eq!(seconds("inf"), None);
        assert_eq!(understood("OMPVM_CHAOS", "7").chaos, Some(7));
        assert_eq!(understood("OMPVM_AHEAD", "never").eager, EagerPolicy::Never);
        assert_eq!(
            understood("OMPVM_OFFLOAD", "Force").offload,
            OffloadMode::Force
        );
        assert_eq!(understood("OMPVM_INTERPRET", "a,,b").interpret, ["a", "b"]);
        assert!(!understood("OMPVM_SPECULATE", "0").speculate);
        assert!(!understood("OMPVM_ADVICE", "off").advice);
        assert!(understood("OMPVM_BASELINE", "yes, please").baseline_times);
        assert!(!understood("OMPVM_BASELINE", "0").baseline_times);
        let driver = understood("OMPVM_CUDA_DRIVER", "/d.so").cuda_driver;
        assert_eq!(driver, Some("/d.so".into()));
    }

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("12", Some(12)),
            ("12B", Some(12)),
            (" 3k", Some(3 << 10)),
            ("3 KB", Some(3 << 10)),
            ("3KiB", Some(3 << 10)),
            ("64M", Some(64 << 20)),
            ("2GiB", Some(2 << 30)),
            ("", None),
            ("M", None),
            ("-1", None),
            ("64Q", None),
            ("64iB", None),
            ("1.5G", None),
            ("18446744073709551615K", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }

    #[test]
    fn device_selections_are_parsed() {
        let devices = |text| understood("OMPVM_DEVICE", text).devices;
        assert_eq!(devices("emulated"), DeviceSelection::Emulated(1));
        assert_eq!(devices("Emulated:2 "), DeviceSelection::Emulated(2));
        assert_eq!(devices("host"), DeviceSelection::None);
        for wrong in ["emulated:0", "emulated:65", "gpu"] {
            assert_eq!(DeviceSelection::parse(wrong), None);
        }
        // OpenMP's variable names devices, too, but ompvm's own wins, and numbers are OpenMP's.
        let openmp = |text| understood("OMP_DEFAULT_DEVICE", text).devices;
        assert_eq!(openmp("emulated"), DeviceSelection::Emulated(1));
        assert_eq!(openmp("1"), DeviceSelection::Hardware);
        let both = read(&[("OMP_DEFAULT_DEVICE", "emulated"), ("OMPVM_DEVICE", "host")]);
        assert_eq!(both.0.devices, DeviceSelection::None);
    }

    #[test]
    fn failures_are_parsed() {
        let failure = understood("OMPVM_FAIL", "endless@full:hot").fail.unwrap();
        assert_eq!(failure.kind, FailureKind::Endless);
        assert!(failure.full && failure.name == "hot");
        for wrong in ["fatal", "unknown:f"] {
            assert_eq!(read(&[("OMPVM_FAIL", wrong)]).1.len(), 1, "{wrong}");
        }
    }

    #[test]
    fn the_cache_is_where_the_first_variable_says() {
        let folder = |variables: &[(&str, &str)]| read(variables).0.cache_folder;
        let (own, xdg, home) = (
            ("OMPVM_CACHE_DIR", "c"),
            ("XDG_CACHE_HOME", "/x"),
            ("HOME", "/h"),
        );
        assert_eq!(folder(&[home, xdg, own]), Some("c".into()));
        assert_eq!(folder(&[home, xdg]), Some("/x/ompvm".into()));
        assert_eq!(folder(&[home]), Some("/h/.cache/ompvm".into()));
        assert_eq!(folder(&[("XDG_CACHE_HOME", "x"), ("HOME", "h")]), None);
    }

    #[test]
    fn a_warning_names_variable_value_and_what_is_accepted() {
        let (settings, warnings) =
            read(&[("OMPVM_EMULATED_MEMORY", "64Q"), ("OMPVM_DEVICE", "gpu")]);
        assert_eq!(settings, Settings::DEFAULT);
        assert_eq!(
            warnings,
            [
                "OMPVM_DEVICE=\"gpu\" is not emulated, emulated:N (N up to 64) or host; using the \
                 default (the GPUs of the machine)",
                "OMPVM_EMULATED_MEMORY=\"64Q\" is not a size such as 64M; using the default (4G)",
            ]
        );
        for (name, value) in [
            ("OMPVM_CACHE_LIMIT", "lots"),
            ("OMPVM_ADVICE", "quiet"),
            ("OMPVM_SPECULATE", "2"),
            ("OMPVM_HUGE_PAGES", "never"),
            ("OMPVM_OFFLOAD", "on"),
            ("OMPVM_TARGET_TIMEOUT", "-1"),
            ("OMPVM_TARGET_TIMEOUT", "soon"),
            ("OMPVM_TARGET_TIMEOUT", "NaN"),
            ("OMPVM_CHAOS", "-1"),
            ("OMPVM_AHEAD", "sometimes"),
        ] {
            let (settings, warnings) = read(&[(name, value)]);
            assert_eq!(settings, Settings::DEFAULT);
            assert!(warnings[0].starts_with(&format!("{name}={value:?} is not ")));
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_a_path_or_get_a_warning() {
        let bytes = OsStr::from_bytes(b"/\xff");
        let of = |name: &str| {
            let value = bytes.to_owned();
            let name = name.to_owned();
            Settings::read(&move |asked| (asked == name).then(|| value.clone()))
        };
        let (settings, warnings) = of("OMPVM_CACHE_DIR");
        assert_eq!(settings.cache_folder, Some(PathBuf::from(bytes)));
        assert!(warnings.is_empty());
        assert_eq!(of("OMPVM_CHAOS").1.len(), 1);
    }
}
