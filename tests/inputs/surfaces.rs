//! The surfaces: each hands one input to the code that reads such bytes first.

use super::capi::Library;
use super::mutate::{self, Corpus, Random};
use ompvm::api::{Cache, file_kind};
use ompvm::ir::serialized;
use ompvm::kmpc::{env, icv};
use ompvm::llvm::{self, Input, reader_process};
use ompvm::support::log::LogFilter;
use ompvm::support::settings::{Settings, VARIABLES};
use ompvm::tier::archive::{self, Archive};
use ompvm::tier::fat::{self, record::LinkRecord};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The outcome of an input, with the number of executions.
pub enum Outcome {
    /// The reader accepted it.
    Accepted(u64),
    /// The reader returned an error.
    Refused(u64),
    /// LLVM failed on it, and the reader reported that.
    Contained(u64),
}

/// A surface with what it needs.
pub enum Surface {
    /// Bitcode, in this process.
    Bitcode,
    /// Textual IR, in this process.
    Text,
    /// Bitcode, in a process of its own.
    Contained(PathBuf),
    /// Files of the cache: modules in serialized form, and files with a head.
    Cache { folder: PathBuf },
    /// Objects, executables, archives and compressed files.
    Object { file: PathBuf },
    /// Values of variables of the environment.
    Settings,
    /// The C library.
    Capi(Box<Library>),
}

impl Surface {
    /// Prepares a surface. `file` is a file in a folder for files of this worker.
    pub fn new(name: &str, file: &Path) -> Surface {
        match name {
            "bitcode" => Surface::Bitcode,
            "text" => Surface::Text,
            "contained" => Surface::Contained(beside("ompvm")),
            "cache" => Surface::Cache {
                folder: file.with_extension("cache"),
            },
            "object" => Surface::Object {
                file: file.with_extension("object"),
            },
            "settings" => Surface::Settings,
            "capi" => Surface::Capi(Box::new(Library::open(&beside("libompvm.so")))),
            other => panic!("no surface has the name {other}"),
        }
    }

    /// Hands one input to the surface.
    pub fn try_one(&mut self, corpus: &Corpus, random: &mut Random) -> Outcome {
        match self {
            Surface::Bitcode => outcome(llvm::read(&[as_input(mutate::bytes(corpus, random))])),
            Surface::Text => outcome(llvm::read(&[as_input(mutate::text(corpus, random))])),
            Surface::Contained(program) => {
                let input = [as_input(mutate::bytes(corpus, random))];
                outcome(reader_process::read(program, &input, false))
            }
            Surface::Cache { folder } => cache(folder, mutate::bytes(corpus, random), random),
            Surface::Object { file } => object(file, mutate::bytes(corpus, random), random),
            Surface::Settings => settings(&variables(random)),
            Surface::Capi(library) => library.run(corpus, random),
        }
    }
}

/// Returns the input that a surface gets, or a text that says how to repeat it.
pub fn input(surface: &str, corpus: &Corpus, random: &mut Random) -> Vec<u8> {
    match surface {
        "text" => mutate::text(corpus, random),
        "settings" => variables(random).into_bytes(),
        "capi" => b"calls are made from the seed\n".to_vec(),
        _ => mutate::bytes(corpus, random),
    }
}

/// Returns a file of the build that this program is from.
fn beside(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("this program has a path");
    let deps = own.parent().expect("it has a folder");
    deps.with_file_name(name)
}

fn as_input(bytes: Vec<u8>) -> Input {
    Input {
        name: "input".into(),
        bytes,
    }
}

fn outcome<T>(read: Result<T, ompvm::api::Error>) -> Outcome {
    let Err(error) = read else {
        return Outcome::Accepted(1);
    };
    match tells_of_failure(&error.to_string()) {
        true => Outcome::Contained(1),
        false => Outcome::Refused(1),
    }
}

/// Returns true for messages by which the reader reports that LLVM failed.
pub fn tells_of_failure(message: &str) -> bool {
    let failed = [
        "LLVM crashed",
        "LLVM gave up",
        "takes too",
        "the process that reads",
    ];
    failed.iter().any(|words| message.contains(words))
}

fn accepted(yes: bool) -> Outcome {
    match yes {
        true => Outcome::Accepted(1),
        false => Outcome::Refused(1),
    }
}

/// Loads a damaged module, or puts a damaged file into a cache and asks for it.
fn cache(folder: &Path, bytes: Vec<u8>, random: &mut Random) -> Outcome {
    if random.below(64) > 0 {
        return accepted(serialized::load_all(bytes).is_some());
    }
    let cache = Cache::new(folder);
    let Some(entry) = cache.entry([&b"program"[..]].into_iter()) else {
        return Outcome::Refused(1);
    };
    entry.put_file("module", &bytes);
    entry.put_file("members", &bytes);
    accepted(entry.module().is_some() || entry.bytes("members").is_some())
}

/// Reads an object, an archive or a compressed file.
fn object(file: &Path, bytes: Vec<u8>, random: &mut Random) -> Outcome {
    if bytes.starts_with(b"\x1f\x8b") || random.below(256) == 0 {
        std::fs::write(file, &bytes).expect("a file can be written");
        return accepted(file_kind(file).is_ok());
    }
    let path = Path::new("input");
    if archive::is_archive(&bytes) {
        let members = archive::members(&bytes).len();
        let archive = Archive::of_bytes(path, bytes);
        let Ok(archive) = archive else {
            return Outcome::Refused(1);
        };
        let _ = archive.find("main");
        return accepted(archive::any_bitcode(&[archive]) || members > 0);
    }
    let record = LinkRecord::of(&bytes);
    let _ = fat::kind(&bytes);
    match fat::read(&bytes) {
        Ok(Some(elf)) => {
            for part in &elf.bitcode {
                let _ = &bytes[part.range.clone()];
            }
            accepted(Archive::of_object(path, bytes).is_ok() || record.is_ok())
        }
        _ => Outcome::Refused(1),
    }
}

/// Names of OpenMP's and libomp's variables.
const OPENMP: [&str; 24] = [
    "OMP_NUM_THREADS",
    "OMP_SCHEDULE",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OMP_STACKSIZE",
    "OMP_ALLOCATOR",
    "OMP_NUM_TEAMS",
    "OMP_THREAD_LIMIT",
    "OMP_WAIT_POLICY",
    "OMP_DYNAMIC",
    "OMP_NESTED",
    "OMP_MAX_ACTIVE_LEVELS",
    "OMP_AFFINITY_FORMAT",
    "OMP_DISPLAY_ENV",
    "OMP_TARGET_OFFLOAD",
    "OMP_MAX_TASK_PRIORITY",
    "OMP_TEAMS_THREAD_LIMIT",
    "KMP_AFFINITY",
    "KMP_HW_SUBSET",
    "KMP_BLOCKTIME",
    "KMP_STACKSIZE",
    "GOMP_CPU_AFFINITY",
    "KMP_TEAMS_PROC_BIND",
    "KMP_DEVICE_THREAD_LIMIT",
];

/// Parts of values.
const PARTS: [&str; 56] = [
    "",
    "0",
    "1",
    "2",
    "-1",
    "64",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
    "1e308",
    "1e999",
    "nan",
    "inf",
    "-0.0",
    "0.5",
    ",",
    ":",
    "{",
    "}",
    "(",
    ")",
    "!",
    " ",
    "\t",
    "=",
    "@",
    "*",
    "%",
    "static",
    "dynamic",
    "guided",
    "monotonic:",
    "true",
    "false",
    "spread",
    "close",
    "primary",
    "cores",
    "threads",
    "{0:4}",
    "{0,1}:8:2",
    "omp_large_cap_mem_space",
    "fb_data",
    "granularity=fine",
    "compact",
    "explicit",
    "proclist=[0-3:2]",
    "K",
    "G",
    "all",
    "cpu",
    "emulated:",
    "llvm=debug",
    "tier=",
    "\u{fffd}é",
];

/// Returns lines of `NAME=VALUE`.
fn variables(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(4) {
        let known = random.below(VARIABLES.len() + OPENMP.len());
        let name = match VARIABLES.get(known) {
            Some(variable) => variable.name,
            None => OPENMP[known - VARIABLES.len()],
        };
        let _ = write!(text, "{name}=");
        for _ in 0..random.below(7) {
            text.push_str(random.pick(&PARTS));
        }
        text.push('\n');
    }
    text
}

/// Reads variables: each value is accepted, or refused with a warning that names its variable.
fn settings(text: &str) -> Outcome {
    let of = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once('='));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let mut values = icv::Settings::default();
    let mut warnings = Vec::new();
    let string = |name: &str| of(name).map(str::to_owned);
    env::read(&mut values, &string, &mut |warning| warnings.push(warning));
    let (_, own) = Settings::read(&|name| of(name).map(Into::into));
    for warning in warnings.iter().chain(&own) {
        let mut names = text.lines().filter_map(|line| line.split_once('='));
        assert!(
            names.any(|(key, _)| warning.contains(key)),
            "names no variable: {warning}"
        );
    }
    let _ = LogFilter::parse(text);
    accepted(warnings.is_empty() && own.is_empty())
}
