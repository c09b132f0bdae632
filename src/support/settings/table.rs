//! The variables of the environment that set ompvm's settings: one row each.

use super::{
    DeviceFailure, DeviceGroup, DeviceSelection, EagerPolicy, InjectedFailure, MpiChoice,
    OffloadMode, Settings,
};
use crate::log::LogFilter;
use crate::message::Format;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

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
    pub(super) parser: Parser,
}

/// Conversion of a variable's value into a field.
#[derive(Debug)]
pub(super) enum Parser {
    /// `0`, `1`, or another word for off or on.
    Switch(fn(&mut Settings) -> &mut bool),
    /// Text that is not empty. Returns `None` if it cannot be parsed.
    Text(fn(&mut Settings, &str) -> Option<()>),
    /// A path or another value that need not be text, and is not empty.
    Path(fn(&mut Settings, &OsStr)),
}

/// Every variable that ompvm reads for itself. Where several set one field, the first that is set
/// wins.
pub const VARIABLES: &[Variable] = &[
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
        meaning: "`off`, as `--no-advice`: leaves out the line that a run prints on a terminal \
            after it spent over a fifth of its processor time in compiling on full processors",
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
        values: "`cpu`, `emulated`, `emulated:N` (N up to 64) or `host`",
        default: "the GPUs of the machine",
        meaning: "devices that `target` regions run on, as `--device`",
        parser: Parser::Text(|s, v| set(&mut s.devices, DeviceSelection::parse(v))),
    },
    Variable {
        name: "OMPVM_DEVICES",
        section: Section::Use,
        values: "`all`, `auto`, a number of devices, a list of device numbers such as `0,2`, a list \
            with `cpu` such as `all,cpu`, or `each`",
        default: "the default device alone",
        meaning: "devices that run the regions of the default device together, as `--devices`; \
            `each`: none do, and those of [other ranks](devices.md#devices-of-other-ranks) have \
            numbers, too",
        parser: Parser::Text(|s, v| set(&mut s.group, DeviceGroup::parse(v))),
    },
    Variable {
        name: "OMPVM_MPI",
        section: Section::Use,
        values: "`auto`, `off` or a file",
        default: "`auto`",
        meaning: "library that connects the [ranks](devices.md#devices-of-other-ranks) of a \
            launcher; `auto`: the launcher's; `off`: each rank runs the program",
        parser: Parser::Path(|s, v| s.mpi = MpiChoice::parse(v)),
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
        name: "OMPVM_EMULATED_LINKS",
        section: Section::Use,
        values: "`on` or `off`",
        default: "`on`",
        meaning: "whether emulated devices can access each other's memory",
        parser: Parser::Switch(|s| &mut s.emulated_links),
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
        name: "OMPVM_WATCHDOG",
        section: Section::Use,
        values: "a number of seconds such as `10`",
        default: "off",
        meaning: "time after which a [deadlock](tools.md#deadlocks) is reported and the program ended, \
            as `--watchdog`; `0`: off",
        parser: Parser::Text(|s, v| set(&mut s.watchdog, timeout(v))),
    },
    Variable {
        name: "OMPVM_DENY_NATIVE",
        section: Section::Use,
        values: "`on` or `off`",
        default: "`off`",
        meaning: "allows only [listed native functions](process.md#native-functions), as `--deny-native`",
        parser: Parser::Switch(|s| &mut s.deny_native),
    },
    Variable {
        name: "OMPVM_ALLOW_NATIVE",
        section: Section::Use,
        values: "names and `@` groups, separated by commas",
        default: "none",
        meaning: "native functions that are allowed, too, as `--allow-native`",
        parser: Parser::Text(|s, v| {
            let names = v.split(',').filter(|name| !name.is_empty());
            s.allow_native = names.map(str::to_owned).collect();
            Some(())
        }),
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
        name: "OMPVM_CLANG",
        section: Section::Use,
        values: "a program",
        default: "clang 22",
        meaning: "clang of [`ompvm cc` and `ompvm c++`](compilers.md)",
        parser: Parser::Path(|s, v| s.clang = Some(v.into())),
    },
    Variable {
        name: "OMPVM_FLANG",
        section: Section::Use,
        values: "a program",
        default: "flang 22",
        meaning: "flang of [`ompvm fc`](compilers.md)",
        parser: Parser::Path(|s, v| s.flang = Some(v.into())),
    },
    Variable {
        name: "OMPVM_READER",
        section: Section::Use,
        values: "a program",
        default: "the `ompvm` beside the library, or in `PATH`",
        meaning: "ompvm that [reads untrusted files](embedding.md#untrusted-files) for an embedding program",
        parser: Parser::Path(|s, v| s.reader = Some(v.into())),
    },
    Variable {
        name: "OMPVM_MESSAGE_FORMAT",
        section: Section::Use,
        values: "`text` or `json`",
        default: "`text`",
        meaning: "format of ompvm's [messages](messages.md), as `--message-format`",
        parser: Parser::Text(|s, v| set(&mut s.message_format, Format::parse(v))),
    },
    Variable {
        name: "OMPVM_LOG",
        section: Section::Use,
        values: "`LEVEL` or `TARGET=LEVEL`, separated by commas, \
                 with a LEVEL of `off`, `error`, `warn`, `info`, `debug` or `trace` \
                 and a TARGET of `baseline`, `cache`, `interp`, `interp::bytecode`, `jit`, \
                 `kmpc`, `llvm`, `llvm::ir`, `memory`, `offload`, `tier` or `tier::queue`",
        default: "`off`",
        meaning: "prints what ompvm does, as `--log`, see [The log](tools.md#the-log)",
        parser: Parser::Text(|s, v| set(&mut s.log, LogFilter::parse(v).map(Some))),
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
        values: "`KIND:NAME` or `KIND@full:NAME` with a KIND of `fatal`, `error`, `crash`, \
            `abort`, `overflow`, `memory`, `endless`, `grow` or `panic`",
        default: "none",
        meaning: "compilations of functions whose names contain `NAME` fail, see \
            [Tests](contributing/tests.md)",
        parser: Parser::Text(|s, v| set(&mut s.fail, InjectedFailure::parse(v).map(Some))),
    },
    Variable {
        name: "OMPVM_FAIL_DEVICE",
        section: Section::Development,
        values: "`STEP:DEVICE`, `STEP:DEVICE:N` or `STEP:DEVICE:N:end` with a STEP of `open`, \
            `load`, `alloc`, `upload`, `launch`, `download`, `wait` or `free`",
        default: "none",
        meaning: "the Nth step of that kind fails on a device of the process, by default the first, \
            or ends the process, see [Tests](contributing/tests.md)",
        parser: Parser::Text(|s, v| set(&mut s.fail_device, DeviceFailure::parse(v).map(Some))),
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
        meaning: "folders that the dynamic loader searches; the cache's choice of libraries \
            depends on it",
        parser: Parser::Path(|s, v| s.loader_path = Some(v.into())),
    },
    Variable {
        name: "TERM",
        section: Section::Other,
        values: "the type of the terminal",
        default: "any but `dumb`",
        meaning: "`dumb`: no progress bars and colours",
        parser: Parser::Text(|s, v| set(&mut s.dumb_terminal, Some(v == "dumb"))),
    },
    Variable {
        name: "PMI_RANK",
        section: Section::Other,
        values: "a number",
        default: "no launcher",
        meaning: "rank of the process under MPICH's launcher",
        parser: Parser::Text(|s, v| number(&mut s.launcher.pmi.rank, v)),
    },
    Variable {
        name: "PMI_SIZE",
        section: Section::Other,
        values: "a number",
        default: "no launcher",
        meaning: "number of ranks under MPICH's launcher",
        parser: Parser::Text(|s, v| number(&mut s.launcher.pmi.size, v)),
    },
    Variable {
        name: "OMPI_COMM_WORLD_RANK",
        section: Section::Other,
        values: "a number",
        default: "no launcher",
        meaning: "rank of the process under Open MPI's launcher",
        parser: Parser::Text(|s, v| number(&mut s.launcher.open_mpi.rank, v)),
    },
    Variable {
        name: "OMPI_COMM_WORLD_SIZE",
        section: Section::Other,
        values: "a number",
        default: "no launcher",
        meaning: "number of ranks under Open MPI's launcher",
        parser: Parser::Text(|s, v| number(&mut s.launcher.open_mpi.size, v)),
    },
    Variable {
        name: "SLURM_PROCID",
        section: Section::Other,
        values: "a number",
        default: "no launcher",
        meaning: "rank of the process under `srun`",
        parser: Parser::Text(|s, v| number(&mut s.launcher.slurm.rank, v)),
    },
    Variable {
        name: "SLURM_NTASKS",
        section: Section::Other,
        values: "a number",
        default: "no launcher",
        meaning: "number of ranks under `srun`",
        parser: Parser::Text(|s, v| number(&mut s.launcher.slurm.size, v)),
    },
    Variable {
        name: "PMIX_RANK",
        section: Section::Other,
        values: "a number",
        default: "no launcher",
        meaning: "says that `srun` started the process for MPI",
        parser: Parser::Text(|s, v| number(&mut s.launcher.pmix_rank, v)),
    },
];

/// Stores a parsed value; `None` if there is none.
fn set<T>(field: &mut T, value: Option<T>) -> Option<()> {
    *field = value?;
    Some(())
}

/// Stores a number of a launcher. Anything else is no launcher's.
fn number(field: &mut Option<u32>, text: &str) -> Option<()> {
    *field = text.trim().parse().ok();
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
pub(super) fn size(text: &str) -> Option<u64> {
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
pub fn timeout(text: &str) -> Option<Option<Duration>> {
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
    pub(super) fn apply(&self, settings: &mut Settings, value: &OsStr) -> Option<()> {
        if value.is_empty() {
            return Some(());
        }
        match self.parser {
            Parser::Switch(field) => *field(settings) = switch(value.to_str()?)?,
            Parser::Text(parse) => parse(settings, value.to_str()?)?,
            Parser::Path(parse) => parse(settings, value),
        }
        Some(())
    }

    /// Returns the warning about a value that cannot be parsed.
    pub(super) fn warning(&self, value: &OsStr) -> String {
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
