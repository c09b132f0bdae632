//! Links programs and shared libraries.
//!
//! The linker works as usual, with two more inputs for an executable: the start object, and host
//! versions of the entries of the offload library. It reports every file that it takes. Those
//! without bitcode, such as assembler files and objects of other compilers, are stored in a section
//! of the linked file, because `ompvm run` links them to the bitcode. The parts of the C library
//! and of the compiler's own libraries are left out: every process has them.

use super::compile::{self, Job, add_section, is_link_time, is_offload};
use super::{CompilerLine, Failure, Tools, Word, merge, not_started, temporary};
use ompvm_tier::fat::record::{self, LinkRecord, NativeMember};
use ompvm_tier::fat::{self, ElfKind};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The start object.
const START: &[u8] = include_bytes!(env!("START_OBJECT"));
/// The archive of host versions of the offload library's entries.
const HOST_TARGETS: &[u8] = include_bytes!(env!("HOST_TARGETS"));
/// Mark in the start object before the place of ompvm's path.
const MARK: &[u8] = b"OMPVM_START_PATH_MARK:  ";
/// Bytes of that place.
const PATH_ROOM: usize = 4096;

/// Files of the C library and of compilers, by the beginnings of their names.
const TOOLCHAIN: &[&str] = &[
    "crt",
    "Scrt",
    "gcrt",
    "rcrt",
    "libc.",
    "libc_nonshared.",
    "libm.",
    "libm-",
    "libmvec",
    "libpthread",
    "libdl.",
    "librt.",
    "libutil.",
    "libgcc",
    "libstdc++",
    "libc++",
    "libatomic.",
    "libomp",
    "libflang_rt",
    "libclang_rt",
    "libunwind",
    "libsupc++",
    "ld-linux",
];

/// Options of the linker that change which definition a reference means, or where execution begins.
const CHANGES: &[&str] = &[
    "--wrap",
    "-wrap",
    "--defsym",
    "-defsym",
    "-T",
    "--script",
    "-e",
    "--entry",
    "-init",
    "-fini",
    "--allow-multiple-definition",
    "muldefs",
];

/// Options of the linker that ask for a report on the standard output.
const REPORTS: &[&str] = &[
    "-t",
    "--trace",
    "-M",
    "--print-map",
    "--verbose",
    "-v",
    "-V",
    "--version",
];

/// Compiles the sources of a line and links.
pub(super) fn program(tools: &Tools, line: &CompilerLine) -> Result<(), Failure> {
    let dir = temporary()?;
    let output = line.output.clone().unwrap_or_else(|| "a.out".into());
    let mut inputs = Vec::new();
    let mut number = 0;
    for word in &line.words {
        match word {
            Word::Source(source, language, name) => {
                let object = compile::object_path(dir.path(), number, source)
                    .map_err(|e| Failure::own(dir.path(), &e))?;
                number += 1;
                let job = Job {
                    source,
                    language: *language,
                    name: name.as_deref(),
                    object: &object,
                    target: match &line.output {
                        Some(output) => output,
                        None => &Path::new(super::stem(source)).with_added_extension("o"),
                    },
                    split: true,
                };
                job.run(tools, line)?;
                inputs.push(object.into_os_string());
            }
            Word::Linked(file) => inputs.push(file.clone()),
            Word::Option(option, value) => {
                if !is_link_time(option) && !is_offload(option) && !is_dependency(option) {
                    inputs.push(option.clone());
                    inputs.extend(value.clone());
                }
            }
        }
    }
    let partial = line.has("-r");
    let executable = !partial && !line.has("-shared") && !line.has("--shared");
    let mut command = tools.command();
    // Compiling used up the options of sources, and clang says so.
    if number > 0 && tools.compiler != super::Compiler::Fortran {
        command.arg("-Wno-unused-command-line-argument");
    }
    if executable {
        let start = dir.path().join("start.o");
        write(&start, &start_object())?;
        command.arg(start);
    }
    command.args(&inputs).arg("-o").arg(&output);
    if executable && !line.has("-nostdlib") && !line.has("-nodefaultlibs") {
        // Without the ending of an archive: CMake takes each such path of a line that `-v` prints for
        // a library that programs of several languages need.
        let targets = dir.path().join("host_targets");
        write(&targets, HOST_TARGETS)?;
        command.arg(targets);
    }
    let options = line.linker_options();
    let quiet = !options.iter().any(|o| REPORTS.contains(&&**o));
    if quiet && !partial {
        // The second `-t` adds the members of archives.
        command.arg("-Wl,-t,-t").stdout(Stdio::piped());
    }
    let child = command.spawn().map_err(|e| not_started(&command, &e))?;
    let ended = child.wait_with_output();
    let ended = ended.map_err(|e| not_started(&command, &e))?;
    let taken = forward(&ended.stdout, quiet);
    if !ended.status.success() {
        return Err(Failure::Compiler(ended.status));
    }
    if partial || !output.is_file() {
        return Ok(());
    }
    finish(&output, line, &taken, dir.path(), &options)
}

/// Stores the record of the link in the linked file.
fn finish(
    output: &Path,
    line: &CompilerLine,
    taken: &[Taken],
    temporary: &Path,
    options: &[String],
) -> Result<(), Failure> {
    let mut bytes = std::fs::read(output).map_err(|e| Failure::own(output, &e))?;
    let linked = fat::read(&bytes).ok().flatten();
    let Some(linked) = linked.filter(|l| l.kind != ElfKind::Other) else {
        return Ok(());
    };
    if linked.bitcode.is_empty() && linked.native_only.is_empty() {
        return leave_native(output, bytes);
    }
    let changes = options.iter().find(|o| {
        CHANGES.iter().any(|c| {
            let rest = o.strip_prefix(c);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    });
    let mut record = LinkRecord {
        native_only: changes.map(|o| format!("linked with the linker option `{o}`")),
        ..LinkRecord::default()
    };
    if record.native_only.is_none() {
        record.native_only = compile::native_only(line);
    }
    for file in taken {
        // The start object is there, and objects of sources are in folders below.
        if file.path.parent() != Some(temporary) {
            record.members.extend(file.native_members());
        }
    }
    if record.native_only.is_none() {
        merge::merge(&mut bytes, &linked);
    }
    add_section(output, bytes, record::NAME, &record.to_bytes())
}

/// Makes an executable without bitcode start natively, without a detour.
fn leave_native(output: &Path, mut bytes: Vec<u8>) -> Result<(), Failure> {
    let Some(at) = find(&bytes, MARK) else {
        return Ok(());
    };
    bytes[at + MARK.len()] = 0;
    std::fs::write(output, bytes).map_err(|e| Failure::own(output, &e))
}

/// Returns the start object with the path of this ompvm.
fn start_object() -> Vec<u8> {
    let mut object = START.to_vec();
    let own = std::env::current_exe().unwrap_or_default();
    let own = own.as_os_str().as_bytes();
    if let Some(at) = find(&object, MARK)
        && own.len() < PATH_ROOM
    {
        let from = at + MARK.len();
        object[from..from + own.len()].copy_from_slice(own);
    }
    object
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|w| w == wanted)
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(file, bytes).map_err(|e| Failure::own(file, &e))
}

/// Returns true for options of dependency files, which belong to the compilation.
fn is_dependency(option: &OsString) -> bool {
    option.as_bytes().starts_with(b"-M")
}

/// A file that the linker has taken, or a member of an archive.
#[derive(PartialEq, Eq, Debug)]
struct Taken {
    path: PathBuf,
    /// Name of the member.
    member: Option<String>,
}

impl Taken {
    /// Reads a line of the linker's report: `file`, `archive(member)` or `(archive)member`.
    fn of_line(line: &str) -> Option<Taken> {
        let archive_member = |archive: &str, member: &str| {
            Path::new(archive).is_file().then(|| Taken {
                path: archive.into(),
                member: Some(member.to_owned()),
            })
        };
        if let Some((archive, member)) = line.strip_prefix('(').and_then(|l| l.split_once(')')) {
            return archive_member(archive, member);
        }
        if let Some((archive, member)) = line.strip_suffix(')').and_then(|l| l.rsplit_once('('))
            && let Some(taken) = archive_member(archive, member)
        {
            return Some(taken);
        }
        Path::new(line).is_file().then(|| Taken {
            path: line.into(),
            member: None,
        })
    }

    /// Returns the native objects that this is, none if it has bitcode or is part of every process.
    fn native_members(&self) -> Vec<NativeMember> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        if TOOLCHAIN.iter().any(|t| name.starts_with(t)) {
            return Vec::new();
        }
        let Ok(bytes) = std::fs::read(&self.path) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut add = |name: String, bytes: &[u8]| {
            let native = fat::read(bytes).ok().flatten().is_some_and(|elf| {
                elf.kind == ElfKind::Object && elf.bitcode.is_empty() && elf.native_only.is_empty()
            });
            if native {
                let bytes = bytes.to_vec();
                found.push(NativeMember { name, bytes });
            }
        };
        match &self.member {
            None => add(name.into_owned(), &bytes),
            Some(member) => {
                for (other, bytes) in ompvm_tier::archive::members(&bytes) {
                    if other == *member {
                        add(format!("{name}({member})"), bytes);
                    }
                }
            }
        }
        found
    }
}

/// Returns the files that the linker reports, and prints the other lines.
fn forward(report: &[u8], ours: bool) -> Vec<Taken> {
    let mut taken = Vec::new();
    let mut out = std::io::stdout().lock();
    for line in report.split_inclusive(|&b| b == b'\n') {
        let text = String::from_utf8_lossy(line);
        match Taken::of_line(text.trim_end()).filter(|_| ours) {
            Some(file) if taken.contains(&file) => {}
            Some(file) => taken.push(file),
            // Nobody may read the report.
            None => drop(out.write_all(line)),
        }
    }
    taken
}
