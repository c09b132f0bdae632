//! The command line.

use crate::api::{Config, Engine, Linker, Module};
use std::process::ExitCode;

/// Runs the command line.
pub fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let Some(file) = args.first().cloned() else {
        eprintln!("usage: ompvm FILE.bc [arguments]");
        return ExitCode::from(2);
    };
    let engine = Engine::default();
    let run = || {
        let module = Module::from_files(&engine, &[file.into()])?;
        let config = Config::new().args(args).native(true);
        Linker::new(&engine).link(&module)?.start(config)?.run_main()
    };
    match run() {
        // SAFETY: ends the process as a native program's start-up code does.
        Ok(status) => unsafe { libc::exit(status.code()) },
        Err(e) => {
            eprintln!("ompvm: {e}");
            ExitCode::from(125)
        }
    }
}
