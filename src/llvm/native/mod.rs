//! From a program's files to machine code in this process, one unit at a time.
//!
//! What: a [`Session`] has the files in a context of its own (LLVM is single-threaded per
//! context); [`Session::compile`] takes a [`Unit`] of it, rewires every symbol to a name that says
//! what it stands for ([`symbol`], [`prepare`]), runs the passes and generates an object file for
//! this processor ([`pipeline`]), which `jit::link` puts into low memory. Why low memory and 32-bit
//! addresses: data and code are then addressed as in a native executable that is linked at a fixed
//! place.
//!
//! What not: nothing knows the interpreter; no address is known before linking.

mod debug;
mod entries;
pub(super) mod pipeline;
mod prepare;
pub mod symbol;

use super::{Input, parse};
pub use debug::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What becomes of one of the module's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// It is compiled; where its address is taken it is its stub.
    Compiled,
    /// Calls and pointers go to where the process has it.
    External,
    /// An undefined weak symbol.
    Null,
    /// LLVM's own.
    Intrinsic,
}

/// Where one of the module's variables is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// In the low two gigabytes.
    Near,
    /// Anywhere.
    Far,
    /// An undefined weak symbol.
    Null,
    /// At this offset in the thread's block.
    ThreadLocal(usize),
    /// In another module's thread-local storage: functions that use it are not compiled.
    Foreign,
}

/// What to compile, in the order in which the module has its symbols. It holds no address: two
/// processes that ask the same get the same object.
#[derive(Debug)]
pub struct Request {
    /// The program's files, as they were read.
    pub files: Arc<[(String, Vec<u8>)]>,
    /// One per function.
    pub functions: Vec<Function>,
    /// One per variable, LLVM's own bookkeeping left out.
    pub variables: Vec<Variable>,
    /// Whether a cell at a fixed distance from the thread pointer holds the address of the
    /// thread's block.
    pub thread_cell: bool,
    /// What describes the code.
    pub debug: Debug,
}

/// What one object file is made of.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// How much effort goes into its code.
    pub level: Level,
}

/// How much effort goes into code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Level {
    /// The IR as it came.
    Quick,
    /// What long runs are worth.
    #[default]
    Full,
}

/// A unit as machine code that is not yet at its place.
#[derive(Debug)]
pub struct Object {
    /// An ELF object file.
    pub bytes: Vec<u8>,
    /// Number and symbol of each compiled function.
    pub functions: Vec<(usize, String)>,
    /// Functions left to the interpreter, and why.
    pub skipped: Vec<(usize, String)>,
    /// Time for parsing, rewiring and code generation.
    pub times: [Duration; 3],
}

/// The program's files in a context of their own, for one thread.
pub struct Session<'r> {
    request: &'r Request,
    inputs: Vec<Input>,
}

impl<'r> Session<'r> {
    /// Opens the files of a request.
    pub fn open(request: &'r Request) -> Session<'r> {
        super::initialise_target();
        let input = |(name, bytes): &(String, Vec<u8>)| Input {
            name: name.clone(),
            bytes: bytes.clone(),
        };
        Session {
            request,
            inputs: request.files.iter().map(input).collect(),
        }
    }

    /// Compiles a unit.
    ///
    /// # Errors
    /// LLVM's message when the files cannot be parsed again or compiled.
    pub fn compile(&mut self, unit: &Unit) -> Result<Object, String> {
        let mut times = [Duration::ZERO; 3];
        let mut last = Instant::now();
        let mut lap = |i: usize| {
            times[i] = last.elapsed();
            last = Instant::now();
        };
        let parsed = parse::parse(&self.inputs).map_err(|e| e.to_string())?;
        lap(0);
        let prepared = prepare::prepare(&parsed, self.request, unit.level)?;
        lap(1);
        let bytes = {
            let machine = pipeline::Machine::host(parsed.module, prepared.position_independent)?;
            self.request.debug.apply(parsed.module, &machine)?;
            pipeline::run(parsed.module, &machine, unit.level, prepared.inline)?;
            machine.object(parsed.module)?
        };
        if !parsed.take_errors().is_empty() {
            return Err("LLVM reported an error in the program's assembly".into());
        }
        drop(parsed);
        lap(2);
        Ok(Object {
            bytes,
            functions: prepared.compiled,
            skipped: prepared
                .skipped
                .into_iter()
                .map(|(n, why)| (n, why.into()))
                .collect(),
            times,
        })
    }
}
