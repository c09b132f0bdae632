//! `ompvm cc`, `ompvm c++` and `ompvm fc`: compilers that build native files with bitcode in them.
//!
//! Every option goes to clang or flang, whose output is as usual. An object has one more section with
//! the optimized bitcode that its code was made of ([`compile`]). Linkers concatenate the sections,
//! so archives, `ld -r` and shared libraries need no tool of ours. An executable also gets a start
//! object, which runs it under ompvm ([`link`], `start.c`). A command for something else than
//! objects and linked files goes to the compiler as it is.
//!
//! Leaves to others: the format of the sections (`tier::fat`), and running the result (`api`).

mod compile;
mod language;
mod link;
mod merge;
mod words;

use super::FAILED;
use crate::api;
use crate::api::compilers::{self, Compilers};
use language::Language;
use ompvm_support::settings::Settings;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use words::{CompilerLine, Stage, Word};

/// Language of a compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compiler {
    /// `ompvm cc`.
    C,
    /// `ompvm c++`.
    Cpp,
    /// `ompvm fc`.
    Fortran,
}

impl Compiler {
    /// Returns the compiler that the first words of a command line select, by the command or by the
    /// name of the program (`ompvm-cc`), and the number of these words.
    pub fn of_command_line(arguments: &[OsString]) -> Option<(Compiler, usize)> {
        let program = Path::new(arguments.first()?).file_name()?.to_str()?;
        if let Some(name) = program.strip_prefix("ompvm-") {
            return Some((Compiler::named(name)?, 1));
        }
        Some((Compiler::named(arguments.get(1)?.to_str()?)?, 2))
    }

    fn language(self) -> api::Language {
        match self {
            Compiler::C => api::Language::C,
            Compiler::Cpp => api::Language::Cpp,
            Compiler::Fortran => api::Language::Fortran,
        }
    }

    fn named(name: &str) -> Option<Compiler> {
        match name {
            "cc" => Some(Compiler::C),
            "c++" => Some(Compiler::Cpp),
            "fc" => Some(Compiler::Fortran),
            _ => None,
        }
    }
}

/// A failure of the driver.
enum Failure {
    /// A compiler ended with this status, after messages of its own.
    Compiler(ExitStatus),
    /// The driver cannot go on.
    Own(String),
}

impl Failure {
    fn own(what: &Path, error: &io::Error) -> Failure {
        Failure::Own(format!("{}: {error}", what.display()))
    }
}

/// The compilers to use.
struct Tools {
    compiler: Compiler,
    found: Compilers,
}

/// Runs the compiler. `arguments` are the words after its name.
pub fn main(compiler: Compiler, arguments: &[OsString], settings: &Settings) -> ExitCode {
    let tools = Tools {
        compiler,
        found: Compilers::find(settings),
    };
    let line = CompilerLine::parse(arguments);
    let done = match line.stage {
        Stage::Other => tools.replace(arguments),
        Stage::Object => compile::objects(&tools, &line, arguments),
        Stage::Link => link::program(&tools, &line),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Compiler(status)) => {
            // As shells report the signal that ended a command.
            let status = status.code().or(status.signal().map(|signal| 128 + signal));
            ExitCode::from(status.and_then(|s| u8::try_from(s).ok()).unwrap_or(1))
        }
        Err(Failure::Own(message)) => {
            ompvm_support::message!(Input, "{message}");
            ExitCode::from(FAILED)
        }
    }
}

impl Tools {
    /// Returns a command of the compiler for the language of the driver.
    fn command(&self) -> Command {
        self.found.command(self.compiler.language())
    }

    /// Replaces this process by the compiler with the command line as it is.
    fn replace(&self, arguments: &[OsString]) -> Result<(), Failure> {
        let mut command = self.command();
        let error = command.args(arguments).exec();
        Err(not_started(&command, &error))
    }
}

fn not_started(command: &Command, error: &io::Error) -> Failure {
    Failure::Own(compilers::not_started(command, error))
}

/// Runs a command to its end.
fn run(command: &mut Command) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::Compiler(status)),
        Err(error) => Err(not_started(command, &error)),
    }
}

/// Runs a command to its end, and leaves out lines of its messages that contain `noise`.
fn run_without(command: &mut Command, noise: Option<&str>) -> Result<(), Failure> {
    let Some(noise) = noise else {
        return run(command);
    };
    let child = command.stderr(Stdio::piped()).spawn();
    let ended = child.and_then(std::process::Child::wait_with_output);
    let ended = ended.map_err(|e| not_started(command, &e))?;
    let text = String::from_utf8_lossy(&ended.stderr);
    let kept = text
        .split_inclusive('\n')
        .filter(|line| !line.contains(noise));
    eprint!("{}", kept.collect::<String>());
    match ended.status.success() {
        true => Ok(()),
        false => Err(Failure::Compiler(ended.status)),
    }
}

/// Returns a temporary folder, which is removed with the value.
fn temporary() -> Result<tempfile::TempDir, Failure> {
    let made = tempfile::Builder::new().prefix("ompvm-cc-").tempdir();
    made.map_err(|e| Failure::Own(format!("cannot create a temporary folder: {e}")))
}

/// Returns the last part of a path without its ending.
fn stem(path: &Path) -> &OsStr {
    match path.file_stem() {
        Some(stem) if path != Path::new("-") => stem,
        _ => OsStr::new("-"),
    }
}
