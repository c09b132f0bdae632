//! The command line, a client of [`crate::api`].
//!
//! It holds the commands `run`, `repl`, `inspect`, `compile`, `install`, `completions`, `cache` and
//! `compare`, the compilers `cc`, `c++` and `fc`, and the messages and exit statuses. The commands
//! are thin: an embedder can do everything that they do. Nothing here knows how a program is
//! executed.
//!
//! Exit statuses: the guest's own; 125 if ompvm itself fails (as with `env` and `timeout`); 2 for
//! wrong usage.

/// Prints output of a command, or ends the process: the standard macro panics on a full disk.
macro_rules! print {
    ($($text:tt)*) => {
        ompvm_support::output::write_output(format_args!($($text)*))
    };
}

/// As `print`, with a line break.
macro_rules! println {
    () => {
        print!("\n")
    };
    ($($text:tt)*) => {
        print!("{}\n", format_args!($($text)*))
    };
}

/// Prints to standard error, and loses what cannot be written.
macro_rules! eprint {
    ($($text:tt)*) => {
        ompvm_support::eprint!($($text)*)
    };
}

/// As `eprint`, with a line break.
macro_rules! eprintln {
    ($($text:tt)*) => {
        ompvm_support::eprintln!($($text)*)
    };
}

mod args;
mod cache;
mod compare;
mod completions;
mod driver;
mod exit_reports;
mod inspect;
mod install;
mod link_options;
mod message;
mod progress;
mod repl;
mod run;

use crate::api::ranks;
use ompvm_llvm::reader_process;
use ompvm_support::{log, settings};
use std::ffi::OsString;
use std::process::ExitCode;

/// Exit status of ompvm's own failures.
const FAILED: u8 = 125;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if reader_process::is_request(&arguments) {
        return reader_process::serve();
    }
    if let Some((compiler, words)) = driver::Compiler::of_command_line(&arguments) {
        return driver::main(compiler, &arguments[words..], settings::from_environment());
    }
    let parsed = args::parse(arguments);
    // Options come first: the first filter and the first format apply.
    if let Ok(line) = &parsed {
        message::set_format(line.messages);
        if let args::Command::Run(options) = &line.command
            && let Some(filter) = &options.log
        {
            log::start(filter.clone());
        }
    }
    let settings = settings::from_environment();
    message::set_appearance(parsed.as_ref().ok().map(|line| line.messages));
    match parsed.map(|line| line.command) {
        Ok(args::Command::Run(options)) => run::run(*options, settings),
        Ok(args::Command::Repl(options)) => repl::run(options, settings),
        Ok(args::Command::Inspect(options)) => inspect::run(&options),
        Ok(args::Command::Install(options)) => install::run(&options),
        Ok(args::Command::Completions(options)) => completions::run(&options),
        Ok(args::Command::Compile(options)) => cache::compile(options),
        Ok(args::Command::Cache(options)) => cache::run(&options, settings),
        Ok(args::Command::Compare(options)) => compare::run(&options, settings),
        Err(shown) => {
            let status = ExitCode::from(u8::try_from(shown.exit_code()).unwrap_or(2));
            // One of the ranks of MPI is enough to say it.
            if ranks::launched(settings).is_some_and(|l| l.rank > 0) {
                return status;
            }
            if message::wrong_usage(&shown) {
                return status;
            }
            // clap sends help and version to standard output with status 0, and wrong usage to
            // standard error with status 2.
            let _ = shown.print();
            status
        }
    }
}

/// Returns the words of `--cflags`.
fn compiler_flags(options: &[String]) -> impl Iterator<Item = &str> {
    options.iter().flat_map(|words| words.split_whitespace())
}
