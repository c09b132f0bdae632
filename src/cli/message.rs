//! How failures are shown: one message on standard error, `ompvm: ` first.

use super::FAILED;
use crate::support::error::Error;
use std::process::ExitCode;

/// Shows an error of ours and gives the status to exit with.
pub fn failed(error: &Error) -> ExitCode {
    eprintln!("ompvm: {error}");
    if matches!(error, Error::Unsupported(_)) {
        eprintln!("`ompvm run --late` starts all the same and fails where one of these is reached");
    }
    ExitCode::from(FAILED)
}
