//! `ompvm run`: runs one guest as if it ran natively.
//!
//! It ends by `exit`, so that exit handlers and buffers are treated as in a native process.
//! `compare` runs guests in processes of their own.

use super::args::{self, RunOptions};
use super::exit_reports::{self, ExitReports};
use super::{FAILED, compiler_flags, message, progress};
use crate::api::{
    self, Cache, Config, Engine, ExitStatus, Linker, Module, Offload, Tier, Tool, ranks,
};
use ompvm_support::error::Error;
use ompvm_support::settings::Settings;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Runs the program. Returns only if it could not be started.
pub fn run(options: RunOptions, settings: &Settings) -> ExitCode {
    match start(options, settings) {
        // SAFETY: the program has returned from `main`, after which native start-up code calls
        // `exit`, too.
        Ok(status) => unsafe { libc::exit(status.code()) },
        Err(error) => message::failed(&error),
    }
}

fn start(options: RunOptions, settings: &Settings) -> Result<ExitStatus, Error> {
    let config = configuration(&options);
    let mut program = options.program;
    let command = restart_command(std::env::args_os().collect(), program.len());
    let file = std::path::absolute(&program[0]).unwrap_or_else(|_| PathBuf::from(&program[0]));
    // The first `--` between the file and the guest's arguments is an option of ours.
    if program.get(1).is_some_and(|a| a == "--") {
        program.remove(1);
    }
    let mut files = vec![match program[0] == "-" {
        true => "/dev/stdin".into(),
        false => PathBuf::from(&program[0]),
    }];
    files.extend(options.with);
    if let Some(name) = options.argv0 {
        program[0] = name;
    }
    let mut build = options.build;
    build.take_archives(&mut files);

    let contract = options.fp_contract == args::FpContract::On;
    let cached = (options.gdb || options.tier != args::Tier::Interp) && !options.no_cache;
    let engine = Engine::default()
        .cache(cached.then(|| Cache::of_user(settings)).flatten())
        .contract(contract)
        .compiler_flags(compiler_flags(&build.cflags));
    let profile = options.profile.map(|format| match format {
        args::Profile::Perfmap => Tool::PerfMap,
        args::Profile::Jitdump => Tool::JitDump,
    });
    for tool in profile.into_iter().chain(options.gdb.then_some(Tool::Gdb)) {
        engine.tool(tool)?;
    }
    let limit = options
        .watchdog
        .map_or(settings.watchdog, |watchdog| watchdog.0);
    if let Some(limit) = limit {
        engine.watchdog(limit)?;
    }
    let module = match read_program(&engine, &files, &config) {
        // Natively everything is allowed.
        Err(_)
            if options.self_started && !settings.deny_native && api::is_native_only(&files[0]) =>
        {
            return Err(continue_natively(&files[0], &program));
        }
        module => module?,
    };
    eprint!("{}", module.warnings());
    let advise = options.tier == args::Tier::Auto
        && cached
        && !options.gdb
        && !options.no_advice
        && settings.advice;
    let remedy = advise.then(|| compile_command(&files, &build.cflags, contract));
    let mut linker = Linker::new(&engine);
    linker
        .late_unsupported(options.late)
        .deny_native(options.deny_native);
    for name in &options.allow_native {
        linker.allow_native(name);
    }
    let linked = linker.link(&module)?;
    if options.timeline.is_some() {
        api::timeline::start();
    }
    engine.dump_on_quit();
    if options.tier == args::Tier::Opt {
        progress::show_compilation();
    }
    let config = config.args(program).restart(command, file);
    let process = linked.start(build.configure(config))?;
    let (stats, offload) = (options.stats, options.offload_report);
    let reports = ExitReports {
        explain: options.explain,
        timeline: options.timeline,
        remedy: remedy.map(|command| (std::process::id(), command)),
    };
    exit_reports::register(reports, stats, offload);
    process.run_main()
}

/// Replaces this process by the program's native code, with `arguments` from its name on. Returns
/// only if that fails.
fn continue_natively(file: &Path, arguments: &[OsString]) -> Error {
    let mut command = Command::new(file);
    command.arg0(&arguments[0]).args(&arguments[1..]);
    // The start object knows by this number that it has been here; other programs do not mind it.
    let cause = command
        .env("OMPVM_NATIVE", std::process::id().to_string())
        .exec();
    Error::Input {
        file: file.display().to_string(),
        cause: cause.to_string(),
    }
}

/// Reads the program. Under a launcher of MPI this connects the ranks, unless the program uses MPI
/// itself; only rank 0 returns then.
fn read_program(engine: &Engine, files: &[PathBuf], config: &Config) -> Result<Module, Error> {
    let Some(launched) = ranks::launched(engine.settings()) else {
        return Module::from_files(engine, files);
    };
    let join = |problem: Option<&Error>| match ranks::join(engine, &launched, problem) {
        Ok(ranks::Role::Program) => Ok(()),
        // SAFETY: this process has no guest.
        Ok(ranks::Role::Server(server)) => unsafe { libc::exit(server.run(config)) },
        Err(ranks::JoinError::Reported(message)) => Err(Error::Host(message)),
        // SAFETY: this process has no guest.
        Err(ranks::JoinError::Silent) => unsafe { libc::exit(FAILED.into()) },
    };
    // Launchers give the standard input to rank 0.
    let is_input = files.first().is_some_and(|file| file == "/dev/stdin");
    if is_input && launched.rank > 0 {
        join(None)?;
    }
    let mut module = Module::from_files(engine, files);
    if module.as_ref().is_ok_and(ranks::uses_mpi) {
        if !is_input {
            return module;
        }
        module = Err(Error::Input {
            file: "-".into(),
            cause: "it uses MPI, so every rank runs it, but only rank 0 has the standard input; \
                    name a file"
                .into(),
        });
    }
    join(module.as_ref().err())?;
    module
}

/// Returns the configuration that the options ask for, without arguments and libraries.
fn configuration(options: &RunOptions) -> Config {
    let mut config = Config::new()
        .native(true)
        .stats(options.stats)
        .export_dynamic(options.export_dynamic)
        .offload_report(options.offload_report)
        .tier(match options.tier {
            _ if options.gdb => Tier::Opt,
            args::Tier::Interp => Tier::Interp,
            args::Tier::Baseline => Tier::Baseline,
            args::Tier::Opt => Tier::Opt,
            args::Tier::Auto => Tier::Auto,
        });
    config = match options.flush_denormals {
        args::FlushDenormals::Auto => config,
        args::FlushDenormals::On => config.flush_denormals(true),
        args::FlushDenormals::Off => config.flush_denormals(false),
    };
    if let Some(offload) = options.offload {
        config = config.offload(match offload {
            args::Offload::Off => Offload::Off,
            args::Offload::Auto => Offload::Auto,
            args::Offload::Force => Offload::Force,
        });
    }
    if let Some(group) = options.devices {
        config = config.device_group(group);
    }
    match options.device {
        Some(args::Device::Kind(devices)) => config.devices(devices),
        Some(args::Device::Number(n)) => config.env("OMP_DEFAULT_DEVICE", n.to_string()),
        None => config,
    }
}

/// Returns the command that compiles these files into the cache.
fn compile_command(files: &[PathBuf], cflags: &[String], contract: bool) -> String {
    let mut text = "ompvm compile".to_owned();
    if contract {
        text += " --fp-contract=on";
    }
    for words in cflags {
        let _ = write!(text, " --cflags='{words}'");
    }
    for file in files {
        let _ = write!(text, " {}", file.display());
    }
    text
}

/// Returns the command line that runs the same program from any folder: `arguments` without the
/// last `guests` words, which are the file and the guest's arguments.
fn restart_command(mut arguments: Vec<OsString>, guests: usize) -> Vec<OsString> {
    arguments.truncate(arguments.len().saturating_sub(guests));
    args::put_command_first(&mut arguments);
    if arguments.get(1).is_none_or(|word| word != "run") {
        arguments.insert(1.min(arguments.len()), "run".into());
    }
    // Each restart adds its own `--argv0`.
    arguments.retain(|word| !word.as_encoded_bytes().starts_with(b"--argv0="));
    let absolute = |path: &OsStr| {
        let path = std::path::absolute(path);
        path.map_or_else(|_| OsString::new(), PathBuf::into_os_string)
    };
    let mut is_path = false;
    for word in &mut arguments {
        let bytes = word.as_encoded_bytes();
        if is_path {
            *word = absolute(word);
        } else if let Some(path) = bytes.strip_prefix(b"--with=") {
            let mut joined = OsString::from("--with=");
            joined.push(absolute(OsStr::from_bytes(path)));
            *word = joined;
            continue;
        } else if let Some(path) = bytes.strip_prefix(b"-L").filter(|path| !path.is_empty()) {
            let mut joined = OsString::from("-L");
            joined.push(absolute(OsStr::from_bytes(path)));
            *word = joined;
            continue;
        }
        is_path = !is_path && (word == "--with" || word == "-L" || word == "--timeline");
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_restart_command_omits_the_guests_arguments() {
        assert_eq!(
            restart_command(words("ompvm x.bc a b"), 3),
            words("ompvm run")
        );
        let line = "ompvm run --argv0=y --tier=opt -l m x.bc -- -v";
        assert_eq!(
            restart_command(words(line), 3),
            words("ompvm run --tier=opt -l m")
        );
    }

    #[test]
    fn paths_are_made_absolute() {
        let restart_command =
            restart_command(words("ompvm --with a.bc --with=/b.bc -L c -Ld x.bc"), 1);
        let here = std::env::current_dir().unwrap();
        let at = |name: &str| here.join(name).into_os_string();
        assert_eq!(restart_command[3], at("a.bc"));
        assert_eq!(restart_command[4], "--with=/b.bc");
        assert_eq!(restart_command[6], at("c"));
        assert_eq!(
            restart_command[7].to_str().unwrap(),
            format!("-L{}", here.join("d").display())
        );
    }
}
