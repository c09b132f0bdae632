//! The command line's entry: hands the arguments to [`ompvm::cli`] and exits with its status.

fn main() -> std::process::ExitCode {
    ompvm::cli::main()
}
