//! `ompvm inspect`: prints the contents of a file as tables.

use super::args::InspectOptions;
use super::{compiler_flags, message};
use crate::api::{self, DeviceCode, Engine, Linker, Module};
use ompvm_support::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Prints functions, regions, runtime entries and unsupported constructs.
pub fn run(options: &InspectOptions) -> ExitCode {
    if !options.passes.is_empty() {
        return passes(options);
    }
    let mut engine = Engine::default().compiler_flags(compiler_flags(&options.cflags));
    // People look into files before they trust them. The other listings make code of the file.
    if options.ptx.is_none() && !options.offload && options.baseline.is_none() {
        engine = engine.contain_reading_here();
    }
    let module = match Module::from_files(&engine, &options.files) {
        Ok(module) => module,
        Err(error) => {
            let mut text = String::new();
            native_parts(&options.files, &mut text);
            print!("{text}");
            return message::failed(&error);
        }
    };
    eprint!("{}", module.warnings());
    if let Some(architecture) = options.ptx {
        let code = match options.offload {
            true => module.region_code(architecture),
            false => module.device_code(architecture),
        };
        return ptx(code);
    }
    if options.offload {
        return offload(&module);
    }
    if let Some(function) = &options.baseline {
        let program = Linker::new(&engine).link(&module);
        return match program.and_then(|program| program.baseline_code(function)) {
            Ok(text) => {
                print!("{text}");
                ExitCode::SUCCESS
            }
            Err(error) => message::failed(&error),
        };
    }
    let inspection = module.inspect();
    let mut text = String::new();
    native_parts(&options.files, &mut text);
    let unknown = || "-".to_owned();
    let _ = writeln!(text, "Functions ({}):", inspection.functions.len());
    for f in &inspection.functions {
        let place = f.place.clone().unwrap_or_else(unknown);
        let _ = writeln!(
            text,
            "  {:<40} {:>7} instructions  {place}",
            f.name, f.instructions
        );
    }
    let _ = writeln!(text, "\nParallel regions ({}):", inspection.regions.len());
    for r in &inspection.regions {
        let _ = writeln!(
            text,
            "  {:<24} {} in `{}`, {} captured value{}: {}",
            r.place.clone().unwrap_or_else(unknown),
            r.entry,
            r.function,
            r.captured,
            if r.captured == 1 { "" } else { "s" },
            r.outlined.clone().unwrap_or_else(unknown),
        );
    }
    let _ = writeln!(text, "\nRuntime entries ({}):", inspection.entries.len());
    for e in &inspection.entries {
        let place = e.place.clone().unwrap_or_else(unknown);
        let _ = writeln!(
            text,
            "  {:<36} {:>5} call sites, first at {place}",
            e.name, e.sites
        );
    }
    let unsupported = module.check();
    let _ = writeln!(text, "\nUnsupported ({}):", unsupported.len());
    for u in &unsupported {
        let _ = writeln!(text, "  {u}");
    }
    print!("{text}");
    ExitCode::SUCCESS
}

/// Describes what of the executables among the files is native.
fn native_parts(files: &[PathBuf], text: &mut String) {
    for file in files {
        let parts = api::native_parts(file);
        if parts.is_empty() {
            continue;
        }
        let _ = writeln!(text, "Native in {} ({}):", file.display(), parts.len());
        for part in parts {
            let _ = writeln!(text, "  {:<40} {}", part.name, part.reason);
        }
        let _ = writeln!(text);
    }
}

/// Prints the first file's module as the passes leave it.
fn passes(options: &InspectOptions) -> ExitCode {
    for file in options.files.iter().take(1) {
        let name = file.display().to_string();
        let passed = std::fs::read(file)
            .map_err(|e| e.to_string())
            .and_then(|bytes| crate::llvm::passes::run(&options.passes, &name, bytes));
        match passed {
            Ok(text) => print!("{text}"),
            Err(cause) => return message::failed(&Error::Input { file: name, cause }),
        }
    }
    ExitCode::SUCCESS
}

/// Prints the PTX to standard output, and the refused kernels to standard error.
fn ptx(code: Result<Option<DeviceCode>, Error>) -> ExitCode {
    match code {
        Ok(Some(code)) => {
            print!("{}", code.ptx);
            for (kernel, why) in &code.refused {
                ompvm_support::message!(Note, "`{kernel}` runs on the host: {why}");
            }
            ExitCode::SUCCESS
        }
        Ok(None) => {
            ompvm_support::message!(Note, "the program has no code for devices");
            ExitCode::SUCCESS
        }
        Err(error) => message::failed(&error),
    }
}

/// Prints which regions can run on a device.
fn offload(module: &Module) -> ExitCode {
    let regions = match module.offload_regions() {
        Ok(regions) => regions,
        Err(error) => return message::failed(&error),
    };
    for region in &regions {
        let place = region.place.clone().unwrap_or_else(|| "-".to_owned());
        match &region.reason {
            None => println!("{place}: `{}` can run on a device", region.function),
            Some(why) => println!("{place}: `{}` stays on the host: {why}", region.function),
        }
    }
    ExitCode::SUCCESS
}
