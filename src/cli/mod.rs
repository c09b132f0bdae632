//! The command line, a client of [`crate::api`].
//!
//! What: `run`, `inspect`, `compile`, `cache`, `compare`, the messages and exit statuses. Why thin: whatever it can do an
//! embedder can do too. What not: nothing here knows how a program is executed.
//!
//! Exit statuses: the guest's own; 125 when ompvm itself cannot go on (as `env` and `timeout`
//! do), 2 for wrong usage.

mod args;
mod cache;
mod compare;
mod inspect;
mod message;
mod run;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

/// The status of ompvm's own failures.
const FAILED: u8 = 125;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match args::parse(arguments) {
        Ok(args::Command::Run(options)) => run::run(options),
        Ok(args::Command::Inspect(options)) => inspect::run(&options),
        Ok(args::Command::Compile(options)) => cache::compile(options),
        Ok(args::Command::Cache(options)) => cache::run(&options),
        Ok(args::Command::Compare(options)) => compare::run(&options),
        Err(shown) => {
            // Help and version go to standard output with status 0, wrong usage to standard
            // error with 2; clap knows which.
            let _ = shown.print();
            ExitCode::from(u8::try_from(shown.exit_code()).unwrap_or(2))
        }
    }
}
