//! Compiles sources in C, C++ and Fortran to bitcode with an installed clang or flang.
//!
//! The compiler is a child process that writes the bitcode to a pipe, so no file is left behind. A
//! text in memory goes to its standard input behind a `#line` directive, by which messages
//! and line tables name the source.
//!
//! Bitcode is not cached by its source, because a source also depends on headers, which only the
//! compiler finds. The engine's cache knows the program by its bitcode, so an unchanged source
//! costs one run of the compiler and no compilation by ompvm.

use super::compilers::{self, Compilers, FORTRAN_DEVICE_NOISE};
use ompvm_support::error::Error;
use ompvm_support::settings::Settings;
use ompvm_support::write_signal::NoWriteSignal;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Language of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C, by clang.
    C,
    /// C++, by clang.
    Cpp,
    /// Fortran, by flang.
    Fortran,
}

impl Language {
    /// Returns the language of a file by its ending, as clang and flang do; `None` for other files.
    pub fn of_file(file: &Path) -> Option<Language> {
        Some(match file.extension()?.to_str()? {
            "c" | "i" => Language::C,
            "C" | "cc" | "CC" | "cp" | "cpp" | "CPP" | "cxx" | "c++" | "C++" | "ii" | "cppm"
            | "ixx" => Language::Cpp,
            "f" | "F" | "for" | "FOR" | "ftn" | "fpp" | "FPP" | "f77" | "f90" | "F90" | "f95"
            | "F95" | "f03" | "F03" | "f08" | "F08" | "f18" | "F18" => Language::Fortran,
            _ => return None,
        })
    }
}

/// Returns true for a regular file that can be read and begins as ELF files do. What is read from
/// pipes would be lost.
fn is_elf(file: &Path) -> bool {
    let mut magic = [0; 4];
    let mut read = || File::open(file)?.read_exact(&mut magic);
    file.is_file() && read().is_ok() && magic == *b"\x7fELF"
}

/// A source to compile with `-O2 -g -fopenmp`, and with further options of the compiler.
///
/// ```no_run
/// use ompvm::api::{Config, Engine, Language, Linker, Module, Source};
/// # fn main() -> Result<(), ompvm::api::Error> {
/// let engine = Engine::default();
/// let text = "double half(double x) { return x / D; }";
/// let source = Source::text(Language::C, "half.c", text).flag("-DD=2");
/// let module = Module::from_source(&engine, &source)?;
/// let process = Linker::new(&engine).link(&module)?.start(Config::new())?;
/// // SAFETY: the function has this signature.
/// let half = unsafe { process.typed_func::<(f64,), f64>("half")? };
/// assert_eq!(half.call((3.0,))?, 1.5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    language: Language,
    name: PathBuf,
    /// `None` for the contents of the file `name`.
    text: Option<String>,
    flags: Vec<OsString>,
}

/// Bitcode of a source, with the warnings of the compiler.
pub(super) struct CompiledSource {
    pub bitcode: Vec<u8>,
    pub warnings: String,
}

impl Source {
    /// Creates a source from a text. Messages and line tables use `name`. Headers in quotes and
    /// relative paths are searched from the current folder.
    pub fn text(language: Language, name: impl Into<PathBuf>, text: impl Into<String>) -> Source {
        Source {
            language,
            name: name.into(),
            text: Some(text.into()),
            flags: Vec::new(),
        }
    }

    /// Creates a source from a file. `None` if its ending is not one of C, C++ or Fortran, or if it is
    /// an executable with such a name. The file is read when it is compiled.
    pub fn file(path: impl Into<PathBuf>) -> Option<Source> {
        let name = path.into();
        let language = Language::of_file(&name)?;
        if is_elf(&name) {
            return None;
        }
        Some(Source {
            language,
            name,
            text: None,
            flags: Vec::new(),
        })
    }

    /// Adds an option of the compiler, such as `-DN=5` or `-O3`. The last one of several applies.
    pub fn flag(mut self, flag: impl Into<OsString>) -> Source {
        self.flags.push(flag.into());
        self
    }

    /// Adds options of the compiler.
    pub fn flags<T: Into<OsString>>(mut self, flags: impl IntoIterator<Item = T>) -> Source {
        self.flags.extend(flags.into_iter().map(Into::into));
        self
    }

    /// Returns the name of the source.
    pub(super) fn name(&self) -> String {
        self.name.display().to_string()
    }

    /// Runs the compiler. Module files of Fortran are written to the folder `modules`, or are
    /// dropped.
    ///
    /// # Errors
    /// Returns [`Error::Input`] with the compiler's messages, or if it cannot be started.
    pub(super) fn compile(
        &self,
        settings: &Settings,
        modules: Option<&Path>,
    ) -> Result<CompiledSource, Error> {
        let mut command = self.command(settings);
        let dropped = match (self.language, modules) {
            (Language::Fortran, None) => Some(module_folder()?),
            _ => None,
        };
        let own = ["-J", "-module-dir"];
        let is_own = |flag: &OsString| {
            let bytes = flag.as_encoded_bytes();
            own.iter().any(|o| bytes.starts_with(o.as_bytes()))
        };
        let modules = modules.or(dropped.as_ref().map(TempDir::path));
        if let Some(folder) = modules
            && self.language == Language::Fortran
            && !self.flags.iter().any(is_own)
        {
            command.arg("-module-dir").arg(folder);
        }
        let fail = |cause: String| Error::Input {
            file: self.name(),
            cause,
        };
        let text = self.text.as_ref().map(|text| self.with_place(text));
        let child = command.spawn();
        let ended = child.and_then(|child| finish(child, text));
        let ended =
            ended.map_err(|e| fail(compilers::not_started(&command_name(settings, self), &e)))?;
        let messages = self.messages(&ended.stderr);
        if !ended.status.success() {
            let messages = messages.trim_end();
            return Err(fail(match messages.is_empty() {
                true => format!("the compiler ended with {}", ended.status),
                false => format!("the compiler does not accept it:\n{messages}"),
            }));
        }
        Ok(CompiledSource {
            bitcode: ended.stdout,
            warnings: messages,
        })
    }

    /// Returns the command that compiles the source to bitcode on its standard output.
    pub(super) fn command(&self, settings: &Settings) -> Command {
        let mut command = command_name(settings, self);
        command.args(["-O2", "-g", "-fopenmp"]).args(&self.flags);
        let flags: Vec<&OsStr> = self.flags.iter().map(|flag| &**flag).collect();
        command.args(compilers::device_options(self.language, &flags).unwrap_or_default());
        command.args(["-c", "-emit-llvm", "-o", "-"]);
        match &self.text {
            Some(_) => {
                let fixed = ["f", "F", "for", "FOR", "ftn", "fpp", "FPP", "f77"];
                let ending = self.name.extension().and_then(OsStr::to_str);
                command.args(match self.language {
                    Language::C => &["-x", "c", "-"][..],
                    Language::Cpp => &["-x", "c++", "-"],
                    Language::Fortran if ending.is_some_and(|e| fixed.contains(&e)) => {
                        &["-ffixed-form", "-x", "f95-cpp-input", "-"]
                    }
                    Language::Fortran => &["-x", "f95-cpp-input", "-"],
                });
                command.stdin(Stdio::piped());
            }
            None => {
                // A name that begins with `-` would be an option.
                let bytes = self.name.as_os_str().as_encoded_bytes();
                command.arg(match bytes.starts_with(b"-") {
                    true => Path::new(".").join(&self.name),
                    false => self.name.clone(),
                });
                command.stdin(Stdio::null());
            }
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns the text behind a directive that names the source.
    fn with_place(&self, text: &str) -> String {
        let name = self.name().replace('\\', "\\\\").replace('"', "\\\"");
        format!("#line 1 \"{name}\"\n{text}\n")
    }

    /// Returns the compiler's messages about this source.
    fn messages(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let fortran = self.language == Language::Fortran;
        let noise = |line: &&str| {
            // Flang's summary names its standard input.
            let summary = self.text.is_some() && line.trim_end().ends_with(" errors in -");
            !(fortran && (line.contains(FORTRAN_DEVICE_NOISE) || summary))
        };
        text.split_inclusive('\n').filter(noise).collect()
    }
}

/// Gives a compiler its text, and waits for its end.
///
/// # Errors
/// Fails if the system refuses a thread or the compiler's output cannot be read.
pub(super) fn finish(mut child: Child, text: Option<String>) -> io::Result<Output> {
    let input = child.stdin.take();
    // Another thread writes the text, because the compiler may wait for a reader of its output
    // before it has read all of the text.
    std::thread::scope(|scope| {
        if let (Some(mut input), Some(text)) = (input, text) {
            // A compiler that stops early closes its end, and its status says why.
            let write = move || {
                let _no_signal = NoWriteSignal::begin();
                drop(input.write_all(text.as_bytes()));
            };
            std::thread::Builder::new().spawn_scoped(scope, write)?;
        }
        child.wait_with_output()
    })
}

/// Creates a folder for the module files of Fortran, which is removed with the value.
pub(super) fn module_folder() -> Result<TempDir, Error> {
    let made = tempfile::Builder::new().prefix("ompvm-modules-").tempdir();
    made.map_err(|e| Error::Host(format!("cannot create a temporary folder: {e}")))
}

/// Returns the beginning of the compiler's command line.
fn command_name(settings: &Settings, source: &Source) -> Command {
    Compilers::find(settings).command(source.language)
}
