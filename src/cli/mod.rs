//! The command line.

/// Runs the command line.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(125)
}
