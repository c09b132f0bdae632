//! Prints failures: one message on standard error that begins with `ompvm: `.

use super::FAILED;
use ompvm_support::error::Error;
use std::process::ExitCode;

/// Prints an error and returns the exit status.
pub fn failed(error: &Error) -> ExitCode {
    eprintln!("ompvm: {error}");
    if matches!(error, Error::Unsupported(_)) {
        eprintln!(
            "`ompvm run --late` starts the program anyway and fails when it reaches one of these"
        );
    }
    if matches!(error, Error::NotAllowed(_)) {
        eprintln!("`--allow-native=NAME,@GROUP,...` allows more");
    }
    ExitCode::from(FAILED)
}
