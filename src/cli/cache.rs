//! `ompvm compile` and `ompvm cache`: fill the cache of compiled programs ahead of time, show it,
//! and empty it.

use super::args::{CacheAction, CacheOptions, CompileOptions, FpContract};
use super::{compiler_flags, message, progress};
use crate::api::{Cache, Config, Engine, Linker, Module, Stats, Tier};
use ompvm_support::error::Error;
use ompvm_support::settings::Settings;
use std::process::ExitCode;

/// Compiles a program into the user's cache.
pub fn compile(options: CompileOptions) -> ExitCode {
    match fill(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => message::failed(&error),
    }
}

fn fill(mut options: CompileOptions) -> Result<(), Error> {
    progress::show_compilation();
    let mut files = options.files;
    options.build.take_archives(&mut files);
    let engine = Engine::default()
        .user_cache()
        .contract(options.fp_contract == FpContract::On)
        .compiler_flags(compiler_flags(&options.build.cflags));
    let module = Module::from_files(&engine, &files)?;
    eprint!("{}", module.warnings());
    let config = Config::new()
        .native(true)
        .stats(options.stats)
        .tier(Tier::Opt);
    let config = options.build.configure(config);
    for left in Linker::new(&engine).link(&module)?.compile(&config)? {
        ompvm_support::message!(Note, "{left}");
    }
    let stats = Stats::collect();
    if options.stats {
        eprint!("{stats}");
    }
    // Without a stored program the command has failed, so the note of the cache becomes an error.
    match stats.cache.note {
        Some(why) => Err(Error::Host(format!(
            "the compiled program was not stored: {why}"
        ))),
        None => Ok(()),
    }
}

/// Shows what the user's cache holds, or empties it.
pub fn run(options: &CacheOptions, settings: &Settings) -> ExitCode {
    let Some(cache) = Cache::of_user(settings) else {
        let why =
            "there is no cache: neither OMPVM_CACHE_DIR, XDG_CACHE_HOME nor HOME names a folder";
        return message::failed(&Error::Host(why.into()));
    };
    match options.action {
        CacheAction::Stats => {
            let content = cache.content();
            println!("folder    {}", content.folder.display());
            println!("programs  {}", content.programs);
            println!("files     {}", content.files);
            println!("bytes     {}", content.bytes);
            println!("limit     {}", content.limit);
        }
        CacheAction::Clear => println!("removed {} programs", cache.clear()),
    }
    ExitCode::SUCCESS
}
