//! Compiles sources to native objects with their bitcode.
//!
//! The compiler runs twice. The first run does all that the command asks for (warnings, dependency
//! files, module files) and ends with the optimized bitcode. The second run generates code from it,
//! without another optimization, so the object is what one run would have made. Objects for other
//! processors get no bitcode.

use super::{
    Compiler, CompilerLine, Failure, Language, Tools, Word, run, run_without, stem, temporary,
};
use crate::api::compilers::{FORTRAN_DEVICE_NOISE, device_options};
use ompvm_tier::fat::{self, ElfKind, append, section};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Beginnings of options whose code depends on a library that works in native processes only.
const NATIVE_ONLY: &[&str] = &[
    "--coverage",
    "-fprofile-arcs",
    "-ftest-coverage",
    "-fprofile-generate",
    "-fprofile-instr-generate",
    "-fcs-profile-generate",
    "-fcoverage-mapping",
    "-fxray-instrument",
    "-pg",
];

/// Options of link-time optimization, which bitcode in every object makes unnecessary.
const LINK_TIME: &[&str] = &[
    "-flto",
    "-fno-lto",
    "-ffat-lto-objects",
    "-fno-fat-lto-objects",
    "-fembed-bitcode",
    "-fsplit-lto-unit",
    "-funified-lto",
    "-fwhole-program-vtables",
    "-fvirtual-function-elimination",
];

/// Options for devices.
const OFFLOAD: &[&str] = &[
    "--offload-arch",
    "--no-offload-arch",
    "--offload-",
    "-fopenmp-targets",
    "-fopenmp-target-",
    "-foffload-",
    "-fno-offload-",
    "-Xopenmp-target",
    "-Xarch_",
    "-Xoffload-linker",
    "-Xcuda-",
    "-nogpulib",
    "-nogpuinc",
    "--no-offloadlib",
    "--cuda-",
    "--libomptarget-",
    "--offload-device-only",
];

/// Options that are used up by the first run.
const FRONT_END: &[&str] = &[
    "-D",
    "-U",
    "-I",
    "-M",
    "-include",
    "-imacros",
    "-i",
    "-Xclang",
    "-Xflang",
    "-Xpreprocessor",
    "-Wp,",
    "-save-temps",
    "--save-temps",
    "-ftime-trace",
    "-fplugin",
    "-fpass-plugin",
    "-v",
    "-std",
    "-cxx-isystem",
    "-fmodule",
];

/// Options of code generation that clang needs for Fortran's bitcode; it does not know flang's.
const CODE: &[&str] = &[
    "-O",
    "-g",
    "-m",
    "-fpic",
    "-fPIC",
    "-fpie",
    "-fPIE",
    "-fno-pic",
    "-fno-PIC",
    "-fno-pie",
    "-fno-PIE",
    "-ffunction-sections",
    "-fdata-sections",
    "-Wa,",
    "-Xassembler",
    "-mllvm",
    "--target",
    "-target",
    "-fomit-frame-pointer",
    "-fno-omit-frame-pointer",
];

/// Returns true if an option begins with one of the words.
fn begins(option: &OsStr, words: &[&str]) -> bool {
    let bytes = option.as_bytes();
    words.iter().any(|w| bytes.starts_with(w.as_bytes()))
}

/// Returns true if an option is one of link-time optimization.
pub(super) fn is_link_time(option: &OsStr) -> bool {
    begins(option, LINK_TIME)
}

/// Returns true if an option is one for devices.
pub(super) fn is_offload(option: &OsStr) -> bool {
    begins(option, OFFLOAD)
}

/// Returns why the code of a command can only run natively.
pub(super) fn native_only(line: &CompilerLine) -> Option<String> {
    let compiled = |option: &OsStr| format!("compiled with {}", option.to_string_lossy());
    if let Some(option) = line.options().find(|o| begins(o, NATIVE_ONLY)) {
        return Some(compiled(option));
    }
    let mut sanitizers = line.options().filter(|o| begins(o, &["-fsanitize="]));
    let last = sanitizers.next_back()?;
    let off = line.has("-fno-sanitize=all");
    (!off).then(|| compiled(last))
}

/// Runs a command with `-c`.
pub(super) fn objects(
    tools: &Tools,
    line: &CompilerLine,
    arguments: &[OsString],
) -> Result<(), Failure> {
    let sources: Vec<_> = sources(line).collect();
    let output = line.output.as_deref();
    // A device or a pipe cannot hold a section; and the compiler says what it thinks of several
    // sources for one output.
    let special = output.is_some_and(|o| o.exists() && !o.is_file() || o == Path::new("-"));
    if special || sources.is_empty() || output.is_some() && sources.len() > 1 {
        return tools.replace(arguments);
    }
    for (source, language, name) in sources {
        let object = match output {
            Some(output) => output.to_owned(),
            None => Path::new(stem(source)).with_added_extension("o"),
        };
        let job = Job {
            source,
            language,
            name,
            object: &object,
            target: &object,
            split: false,
        };
        job.run(tools, line)?;
    }
    Ok(())
}

/// Returns the sources of a line, with language and value of `-x`.
pub(super) fn sources(
    line: &CompilerLine,
) -> impl Iterator<Item = (&Path, Language, Option<&OsStr>)> {
    line.words.iter().filter_map(|word| match word {
        Word::Source(path, language, name) => Some((&**path, *language, name.as_deref())),
        _ => None,
    })
}

/// The compilation of one source.
pub(super) struct Job<'a> {
    /// The source; `-` for the standard input.
    pub source: &'a Path,
    /// Its language.
    pub language: Language,
    /// Value of `-x` for it.
    pub name: Option<&'a OsStr>,
    /// The object to write.
    pub object: &'a Path,
    /// The file that dependency files name: the output of the whole command.
    pub target: &'a Path,
    /// True if the command also links, so that options of the linker are expected.
    pub split: bool,
}

impl Job<'_> {
    /// Compiles the source.
    pub(super) fn run(&self, tools: &Tools, line: &CompilerLine) -> Result<(), Failure> {
        let source = self.source.to_string_lossy();
        let why = native_only(line);
        let expected = match tools.compiler {
            Compiler::Fortran => Language::Fortran,
            Compiler::C | Compiler::Cpp => Language::C,
        };
        if why.is_some() || self.language != expected {
            let mut command = tools.command();
            self.front(&mut command, line, why.is_some());
            run(command.arg("-o").arg(self.object))?;
            return match why {
                Some(why) => self.add(&section::native_only(&source, &why)),
                None => Ok(()),
            };
        }
        let dir = temporary()?;
        let bitcode = dir.path().join("module.bc");
        let mut command = tools.command();
        self.front(&mut command, line, false);
        let options: Vec<&OsStr> = line.options().collect();
        let device = device_options(tools.compiler.language(), &options);
        let is_device = device.is_some();
        command.args(device.unwrap_or_default());
        command.arg("-emit-llvm").arg("-o").arg(&bitcode);
        // Both runs say so.
        let noise =
            (is_device && tools.compiler == Compiler::Fortran).then_some(FORTRAN_DEVICE_NOISE);
        run_without(&mut command, noise)?;
        run_without(&mut self.back(tools, line, &bitcode), noise)?;
        let bytes = std::fs::read(&bitcode).map_err(|e| Failure::own(&bitcode, &e))?;
        self.add(&section::bitcode(&source, &bytes))
    }

    /// Adds the words that compile the source. `whole` keeps options of link-time optimization.
    fn front(&self, command: &mut Command, line: &CompilerLine, whole: bool) {
        command.arg("-c");
        let (mut unused, mut files, mut named, mut target) = (self.split, false, false, false);
        for word in &line.words {
            let Word::Option(option, value) = word else {
                continue;
            };
            if !whole && is_link_time(option) || self.split && is_for_linker(option) {
                continue;
            }
            match option.to_str() {
                Some("-MD" | "-MMD") => files = true,
                Some("-MT" | "-MQ") => target = true,
                Some("-MF") => named = true,
                Some("-ftime-trace") => {
                    let mut trace = OsString::from("-ftime-trace=");
                    trace.push(self.target.with_extension("json"));
                    command.arg(trace);
                    continue;
                }
                _ => {}
            }
            named |= option.as_bytes().starts_with(b"-MF");
            // Bitcode needs no assembler, and clang says so.
            unused |= begins(option, &["-Wa,", "-Xassembler", "-fno-integrated-as"]);
            command.arg(option);
            command.args(value);
        }
        // The compiler derives both from the output, which is another one here.
        if files && !named {
            command.arg("-MF").arg(self.target.with_extension("d"));
        }
        if files && !target {
            command.arg("-MQ").arg(self.target);
        }
        if unused && self.language != Language::Fortran {
            command.arg("-Wno-unused-command-line-argument");
        }
        if let Some(name) = self.name {
            command.arg("-x").arg(name);
        }
        command.arg(self.source);
    }

    /// Returns the command that generates code from bitcode.
    fn back(&self, tools: &Tools, line: &CompilerLine, bitcode: &Path) -> Command {
        let mut command = Command::new(&tools.found.clang);
        command.args(["-c", "-Wno-unused-command-line-argument"]);
        let fortran = tools.compiler == Compiler::Fortran;
        for word in &line.words {
            let Word::Option(option, value) = word else {
                continue;
            };
            let drop = match fortran {
                true => !begins(option, CODE) || option == "-module-dir",
                false => is_link_time(option) || is_offload(option) || begins(option, FRONT_END),
            };
            if !drop && !is_for_linker(option) {
                command.arg(option);
                command.args(value);
            }
        }
        command.args(["-Xclang", "-disable-llvm-passes", "-x", "ir"]);
        command.arg(bitcode).arg("-o").arg(self.object);
        command
    }

    /// Adds an entry to the object, unless it is for another processor.
    fn add(&self, entry: &[u8]) -> Result<(), Failure> {
        let bytes = std::fs::read(self.object).map_err(|e| Failure::own(self.object, &e))?;
        add_section(self.object, bytes, section::NAME, entry)
    }
}

/// Writes an ELF file for x86-64 with a further section. Other files stay as they are.
pub(super) fn add_section(
    file: &Path,
    bytes: Vec<u8>,
    name: &str,
    data: &[u8],
) -> Result<(), Failure> {
    if fat::kind(&bytes).is_none_or(|kind| kind == ElfKind::Other) {
        return Ok(());
    }
    let bytes = append::append(bytes, name, data, section::ALIGN as u64)
        .map_err(|cause| Failure::Own(format!("{}: {cause}", file.display())))?;
    std::fs::write(file, bytes).map_err(|e| Failure::own(file, &e))
}

/// Returns true if an option is for the linker only.
fn is_for_linker(option: &OsStr) -> bool {
    const WORDS: &[&str] = &[
        "-l",
        "-L",
        "-Wl,",
        "-Xlinker",
        "-rpath",
        "-fuse-ld",
        "-static-lib",
    ];
    const ALONE: &[&str] = &[
        "-static",
        "-shared",
        "-rdynamic",
        "-pie",
        "-no-pie",
        "-nopie",
        "-static-pie",
        "-s",
        "-r",
        "-nostartfiles",
        "-nodefaultlibs",
        "-nostdlib",
        "-u",
        "-z",
        "-T",
        "-e",
    ];
    begins(option, WORDS) || ALONE.iter().any(|w| option == *w)
}

/// Returns the path of an object in a temporary folder for the source with this number.
pub(super) fn object_path(dir: &Path, number: usize, source: &Path) -> std::io::Result<PathBuf> {
    let dir = dir.join(number.to_string());
    std::fs::create_dir(&dir)?;
    Ok(dir.join(stem(source)).with_added_extension("o"))
}
