//! The only layer that calls LLVM.
//!
//! [`read`] turns bitcode or textual IR of one or more files into one [`Module`] of `ir`. `parse`
//! makes one verified and linked LLVM module in a context of its own; `reader` (symbols), `types`,
//! `constants`, `attributes`, `code` and `debug` copy it. While the program already runs, the
//! module is written once more with line tables only, for the compilation units, and the context is
//! disposed of. `parallel_read` reads a larger file on several threads. `guard` runs all of this on
//! threads that may die without taking the process along.
//!
//! The reader calls LLVM's C interface directly because inkwell does not expose switch cases,
//! shuffle masks, orderings, landing-pad clauses, aliases or constant data.
//!
//! The reader neither optimizes nor generates code, and changes nothing but what `contract` is
//! asked to change. Compilation is [`native`], device code [`nvptx`] and [`kernelize`].

mod attributes;
mod code;
mod constants;
pub mod constructors;
pub mod contain;
mod contract;
mod debug;
mod deferred_init;
pub mod device;
pub mod emulate;
mod error;
pub mod guard;
mod handles;
mod heap_growth;
pub mod kernelize;
mod lazy_link;
mod libc_locks;
mod naked;
pub mod native;
pub mod nvptx;
pub mod orc;
mod parallel_read;
mod parse;
pub mod passes;
mod process;
pub mod processors;
mod raw;
mod reader;
pub mod reader_process;
mod shim;
mod tables;
#[cfg(test)]
mod tests;
mod types;

use handles::library;
use ompvm_ir::{LineTables, Module};
use ompvm_support::error::Error;
use ompvm_support::log;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub use deferred_init::started as is_started;
pub use parse::has_modules;

/// An input file.
#[derive(Clone, Debug)]
pub struct Input {
    /// The file's name, for messages.
    pub name: String,
    /// The file's contents: bitcode, with or without the wrapper header, or textual IR.
    pub bytes: Vec<u8>,
}

/// Reads and links the files into one module.
///
/// # Errors
/// Returns [`Error::Input`] with the file's name and one sentence if a file is not a valid module
/// for x86-64 Linux, if the files cannot be linked together, or if LLVM crashes on a damaged file.
pub fn read(inputs: &[Input]) -> Result<Module, Error> {
    finish(read_module(inputs, ReadOptions::default(), false)?)
}

/// Options of reading a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions<'r> {
    /// True to round `a * b + c` once where the source permits it, except in sums that loops carry.
    pub contract: bool,
    /// True to read on several threads even if that does not pay, for tests.
    pub parallel: bool,
    /// The executable of ompvm that reads in a process of its own; `None` to read in this one.
    pub reader: Option<&'r Path>,
}

/// Reads a program that will be compiled, like [`read`]. Its line tables are written while the
/// program already runs.
///
/// # Errors
/// Fails as [`read`] does, and with [`Error::Host`] if there is no process that reads.
pub fn read_program(inputs: &[Input], options: ReadOptions) -> Result<Module, Error> {
    match options.reader {
        Some(program) => reader_process::read(program, inputs, options.contract),
        None => finish(read_module(inputs, options, true)?),
    }
}

/// Assembles the module's naked functions and its file-scope assembly.
fn finish(mut module: Module) -> Result<Module, Error> {
    naked::assemble(&mut module);
    let text = module.module_asm.clone();
    if !text.trim().is_empty() {
        let limits = guard::ResourceLimits::for_input(text.len());
        let assembled = guard::run(&limits, move || native::snippet::assemble(&text));
        module.assembly = assembled.and_then(|a| a).map_err(|why| Error::Input {
            file: module.name.clone(),
            cause: format!("assembly outside of functions: {why}"),
        })?;
    }
    Ok(module)
}

/// Reads the files.
fn read_module(inputs: &[Input], options: ReadOptions, tables: bool) -> Result<Module, Error> {
    let start = Instant::now();
    let read = read_files(inputs, options, tables)?;
    tracing::debug!(
        target: log::LLVM,
        files = inputs.len(),
        bytes = inputs.iter().map(|i| i.bytes.len()).sum::<usize>(),
        functions = read.functions.len(),
        ms = %log::ms(start.elapsed()),
        "read the program"
    );
    Ok(read)
}

/// Reads the files: one on several threads if that pays or is asked for, several without the
/// functions that occur twice. Both give up at anything unusual, which [`parse::parse`] diagnoses.
fn read_files(inputs: &[Input], options: ReadOptions, tables: bool) -> Result<Module, Error> {
    if let [file] = inputs
        && parse::is_bitcode(&file.bytes)
    {
        let threads = match options.parallel {
            true => parallel_read::SEVERAL,
            false => parallel_read::worthwhile(file.bytes.len()),
        };
        let read = (threads > 1).then(|| parallel_read::read(file, options.contract, threads));
        if let Some(module) = read.flatten() {
            return Ok(module);
        }
    }
    if inputs.len() > 1
        && let Some(Ok(module)) = linked(inputs, options.contract, tables, lazy_link::link)
    {
        return Ok(module);
    }
    one(inputs, options.contract, tables)
}

/// Reads the files on one thread, and says what is wrong with them.
fn one(inputs: &[Input], contract: bool, line_tables: bool) -> Result<Module, Error> {
    let parse: Link = |inputs| Some(parse::parse(inputs));
    linked(inputs, contract, line_tables, parse)
        .unwrap_or_else(|| ompvm_support::bug!("a reader that neither read nor failed"))
}

/// Links files into one module; `None` to leave them to another way.
type Link = fn(&[Input]) -> Option<Result<parse::Parsed, Error>>;

/// Links the files and reads the module on one thread, which then writes the line tables if asked
/// to.
fn linked(
    inputs: &[Input],
    contract: bool,
    line_tables: bool,
    link: Link,
) -> Option<Result<Module, Error>> {
    let names = inputs
        .iter()
        .map(|i| i.name.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    let inputs: Arc<[Input]> = inputs.into();
    let files = inputs.clone();
    let written = line_tables.then(LineTables::default);
    let limits = guard::ResourceLimits::for_reading(inputs.iter().map(|i| i.bytes.len()).sum());
    let done = guard::run_with_deferred(&limits, move || {
        let parsed = match link(&inputs)? {
            Ok(parsed) => parsed,
            Err(error) => return Some((Err(error), Box::new(|| ()) as guard::Deferred)),
        };
        let switches = shim::switches_stacks(parsed.module());
        shim::expand_thread_locals(parsed.module(), switches);
        shim::lower_checked_loads(parsed.module());
        if contract {
            contract::contract(parsed.module());
        }
        let name = inputs.first().map_or("", |i| i.name.as_str());
        let tables = Mutex::default();
        let mut module = reader::Reader::new(&parsed, &tables).read(name);
        module.contracted = contract;
        module.switches_stacks = switches;
        module.line_tables = written.clone().unwrap_or_default();
        let later = move || {
            if let Some(written) = written {
                native::write_line_tables(parsed, &written, inputs.len() > 1);
            }
            drop(inputs);
        };
        Some((Ok(module), Box::new(later) as guard::Deferred))
    });
    let result = match done {
        Ok(result) => result?,
        Err(cause) => Err(Error::Input { file: names, cause }),
    };
    Some(result.map(|mut module| {
        let file = |i: &Input| (i.name.clone(), i.bytes.clone());
        module.files = files.iter().map(file).collect();
        module
    }))
}

/// Returns the version of the linked LLVM: major, minor, patch.
pub fn version() -> (u32, u32, u32) {
    library::version()
}

/// Registers LLVM's code generator for this architecture once.
fn initialize_target() {
    deferred_init::start();
    process::LLVM.host_target.call_once(|| {
        shim::watch_code_generation();
        library::register_x86();
        options();
    });
}

/// Registers LLVM's code generator for NVIDIA GPUs once.
fn initialize_nvptx() {
    deferred_init::start();
    process::LLVM.nvptx_target.call_once(|| {
        shim::watch_code_generation();
        library::register_nvptx();
    });
}

/// Sets options of the code generator that only its command line offers.
///
/// Unreachable code traps, as it does in the interpreter. The older, shorter analysis tracks the
/// locations of variables, since only lines are kept.
fn options() {
    library::set_options(&[
        c"-trap-unreachable",
        c"-experimental-debug-variable-locations=false",
    ]);
}
