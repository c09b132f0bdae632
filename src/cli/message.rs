//! Prints failures: one message on standard error that begins with `ompvm: `.

use super::FAILED;
use ompvm_support::error::Error;
use std::process::ExitCode;

/// Prints an error and returns the exit status.
pub fn failed(error: &Error) -> ExitCode {
    eprintln!("ompvm: {error}");
    if matches!(error, Error::Unsupported(_)) {
        eprintln!("`ompvm run --late` starts all the same and fails where one of these is reached");
    }
    ExitCode::from(FAILED)
}
