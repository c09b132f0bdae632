//! Compilation of a program's files to machine code, one unit at a time.
//!
//! [`Session::compile`] makes a module of the functions of a [`Unit`] ([`source`]), rewires every
//! symbol to a name that says what it refers to ([`symbol`], [`rewire`]), runs the passes and
//! generates an object file for this processor ([`pipeline`]). `jit::link` then places the object
//! in low memory, so that 32-bit addresses reach data and code as in a native executable linked at
//! a fixed address.
//!
//! This module knows nothing of the interpreter, and no address is known before linking.

mod bisect;
mod bitcode;
mod debug_level;
mod fast_paths;
mod fault_injection;
pub mod osr_landing;
pub(crate) mod pipeline;
pub(crate) mod rewire;
pub mod snippet;
mod source;
pub mod symbol;
mod target_attributes;

use super::handles::{Function, Module, Variable};
use super::parse::{self, Parsed};
pub use super::shim::{LocationKind, ValueLocation};
pub use bisect::CANNOT_COMPILE;
pub use bitcode::Bitcode;
pub(crate) use bitcode::write_line_tables;
pub use debug_level::DebugLevel;
pub use fast_paths::disable as disable_fast_paths;
use hashbrown::HashMap;
use ompvm_support::log;
use ompvm_support::progress;
use ompvm_support::settings::InjectedFailure;
pub use pipeline::{host_features_with, host_lacks};
pub(crate) use source::OpenedProgram;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Treatment of one of the module's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionBinding {
    /// Compiled. Its address, where taken, is its stub's.
    Compiled,
    /// Calls and pointers go to the process's own definition.
    External,
    /// An undefined weak symbol.
    Null,
    /// An LLVM intrinsic.
    Intrinsic,
}

/// Location of one of the module's variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableBinding {
    /// In the low two gigabytes.
    Near,
    /// Anywhere.
    Far,
    /// An undefined weak symbol.
    Null,
    /// At this offset in the thread's block, in bytes.
    ThreadLocal(usize),
    /// In another module's thread-local storage: functions that use it are not compiled.
    Foreign,
}

/// The labels of a function whose addresses are taken.
#[derive(Debug)]
pub struct LabelAddresses {
    /// The function's number.
    pub function: usize,
    /// The labels whose addresses are the same in every tier. None if the function's compiled code
    /// has addresses of its own, or is not made.
    pub labels: Vec<LabelOffset>,
}

/// The address of a label, which is the same in every tier.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LabelOffset {
    /// The block's number in the function.
    pub block: u32,
    /// Distance from the start of the function's synthetic addresses.
    pub offset: u32,
}

/// Description of the program to compile, in the order of the module's symbols. It holds no
/// address: two processes with equal requests get the same object.
#[derive(Debug)]
pub struct CompileRequest {
    /// Name of each function.
    pub names: Vec<Box<str>>,
    /// Treatment of each function.
    pub functions: Vec<FunctionBinding>,
    /// Location of each variable, without LLVM's own bookkeeping.
    pub variables: Vec<VariableBinding>,
    /// The functions whose labels' addresses are taken.
    pub labels: Vec<LabelAddresses>,
    /// True if a cell at a fixed distance from the thread pointer holds the address of the thread's
    /// block.
    pub thread_cell: bool,
    /// Debug information to generate.
    pub debug: DebugLevel,
    /// True if the functions were read with `llvm.fmuladd` contracted where that pays.
    pub contracted: bool,
    /// True if code of the program may leave a function on one thread and return on another.
    pub switches_stacks: bool,
    /// Failure to inject into compilations.
    pub fail: Option<InjectedFailure>,
}

/// The contents of one object file.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Numbers of the functions; `None` means all.
    pub functions: Option<Vec<usize>>,
    /// OSR entries of loops; their functions are not among those above.
    pub entries: Vec<OsrEntry>,
    /// Optimization level.
    pub level: Level,
    /// True to generate quick code and count it as code of `level`.
    pub degraded: bool,
}

/// An OSR entry at the head of a loop: a function `i32 (slots, result, flag)` that takes over an
/// interpreter frame. It returns the block at which to continue, or stores the result's slot form.
/// In quick code it leaves at the loop's head when the flag is set.
#[derive(Clone, Debug)]
pub struct OsrEntry {
    /// The function's number.
    pub function: usize,
    /// The block's number in the function.
    pub block: u32,
    /// Size of the result, in words.
    pub words: u32,
    /// Locations of the function's parameters and instructions in the frame.
    pub locations: Arc<[ValueLocation]>,
}

/// Optimization level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Level {
    /// The IR as it came, except for inlining.
    Quick,
    /// The optimization that long runs are worth.
    #[default]
    Full,
}

/// A unit as machine code that is not yet placed in memory.
#[derive(Debug)]
pub struct Object {
    /// Optimization level of the code.
    pub level: Level,
    /// An ELF object file; empty if nothing could be compiled.
    pub bytes: Vec<u8>,
    /// Number and symbol of each compiled function.
    pub functions: Vec<(usize, String)>,
    /// Index in [`Unit::entries`] and symbol of each OSR entry.
    pub entries: Vec<(usize, String)>,
    /// Functions and OSR entries left to the tier below, with the reason.
    pub skipped: Vec<(usize, String)>,
    /// Functions whose code is below the object's level, with the reason.
    pub degraded: Vec<(usize, String)>,
    /// True if another attempt may compile more.
    pub transient: bool,
    /// Time for reading, rewiring and code generation.
    pub times: [Duration; 3],
}

/// Reason why a unit could not be compiled.
#[derive(Debug)]
pub(crate) enum CompileError {
    /// No unit of the program can be compiled.
    Whole(String),
    /// A part of this unit cannot be compiled.
    Part {
        /// One sentence without a full stop.
        why: String,
        /// Symbol of the function at fault, if known.
        culprit: Option<String>,
        /// True if another attempt may succeed.
        transient: bool,
    },
}

impl From<String> for CompileError {
    fn from(why: String) -> CompileError {
        CompileError::Part {
            why,
            culprit: None,
            transient: false,
        }
    }
}

impl From<super::shim::GrowthExceeded> for CompileError {
    fn from(grown: super::shim::GrowthExceeded) -> CompileError {
        CompileError::Part {
            why: grown.what,
            culprit: Some(grown.culprit).filter(|c| !c.is_empty()),
            transient: false,
        }
    }
}

/// The parts of a unit that a session reads.
struct Read<'m> {
    /// The module's symbols, unless it has all of the program's.
    symbols: Option<rewire::Symbols<'m>>,
    /// The OSR entries.
    extra: Vec<rewire::OsrFunction<'m>>,
    /// The functions whose entry cannot be created, with the reason.
    failed: Vec<(usize, String)>,
    /// Variables that the program does not have.
    added: Vec<Variable<'m>>,
}

/// Compiles the units of a program on one thread.
#[derive(Debug)]
pub struct Session<'r> {
    request: &'r CompileRequest,
    bitcode: &'r Bitcode,
}

impl<'r> Session<'r> {
    /// Number of steps that [`progress`] counts for a unit of the full level: reading and rewiring,
    /// four pipelines of passes, and code generation.
    pub const STEPS: usize = 6;

    /// Creates a session for the units of a request.
    pub fn open(request: &'r CompileRequest, bitcode: &'r Bitcode) -> Session<'r> {
        super::initialize_target();
        Session { request, bitcode }
    }

    /// Compiles a unit in one piece. Only its functions are read from the bitcode; the object is
    /// all that remains.
    fn attempt(&self, unit: &Unit) -> Result<Object, CompileError> {
        let start = Instant::now();
        let debug = self.request.debug;
        let (bytes, lean) = self.bitcode.for_unit(debug).map_err(CompileError::Whole)?;
        let source = match self.wanted(unit) {
            // Labels in variables need the bodies that have them, and variables have types.
            Some(wanted) if self.request.labels.is_empty() && debug != DebugLevel::Full => {
                let source = self.bitcode.source(bytes, self.request);
                source.map_err(CompileError::Whole)?.map(|s| (s, wanted))
            }
            _ => None,
        };
        let Some((mut source, wanted)) = source else {
            let parsed = parse::open(bytes, debug == DebugLevel::Full);
            let parsed = parsed.map_err(CompileError::Whole)?;
            let read = self.read_selected(parsed.module(), unit);
            let read = read.and_then(|added| self.add_entries(parsed.module(), unit, None, added));
            let read = read.map_err(CompileError::Whole)?;
            let typed = !lean && super::shim::has_types(parsed.module());
            let object = self.generate(unit, &parsed, parsed.module(), read, typed, start)?;
            if debug == DebugLevel::Lines && (typed || !super::shim::is_current(bytes)) {
                self.bitcode.opened(object.times[0]);
            }
            return Ok(object);
        };
        let part = source.part(&wanted).map_err(CompileError::Whole)?;
        let read = self.add_entries(part.module(), unit, Some(part.symbols()), Vec::new());
        let read = read.map_err(CompileError::Whole)?;
        let typed = !lean && source.is_typed();
        let object = self.generate(unit, source.parsed(), part.module(), read, typed, start)?;
        drop(part);
        if typed {
            self.bitcode.opened(object.times[0]);
        }
        source.served();
        self.bitcode.keep(source);
        Ok(object)
    }

    /// Generates code for a module that has the unit's functions and OSR entries.
    fn generate(
        &self,
        unit: &Unit,
        parsed: &Parsed,
        module: Module<'_>,
        read: Read<'_>,
        typed: bool,
        start: Instant,
    ) -> Result<Object, CompileError> {
        let mut times = [Duration::ZERO; 3];
        let mut last = start;
        let mut lap = |i: usize| {
            let time = last.elapsed();
            times[i] = time;
            last = Instant::now();
            log::ms(time)
        };
        let effort = match unit.degraded {
            true => Level::Quick,
            false => unit.level,
        };
        let debug = self.request.debug;
        let Read {
            symbols,
            extra,
            failed,
            added,
        } = read;
        let ms = lap(0);
        tracing::debug!(
            target: log::LLVM,
            functions = unit.functions.as_ref().map(Vec::len),
            loops = unit.entries.len(),
            level = ?effort,
            typed,
            %ms,
            "read a unit"
        );
        let rewired = rewire::rewire(module, symbols, self.request, effort, &extra, &added);
        let mut rewired = rewired.map_err(CompileError::Whole)?;
        rewired.skipped.extend(failed);
        let ms = lap(1);
        tracing::debug!(
            target: log::LLVM,
            compiled = rewired.compiled.len(),
            skipped = rewired.skipped.len(),
            %ms,
            "rewired its symbols"
        );
        progress::step();
        let machine = pipeline::HostMachine::for_module(module, rewired.position_independent)?;
        let bytes = {
            if typed || debug != DebugLevel::Lines {
                debug.apply(module, &machine)?;
            }
            let several = rewired.compiled.len() + rewired.entries.len() > 1;
            let unit_is = pipeline::UnitProperties {
                inline: rewired.inline,
                several,
                wide: rewired.wide,
            };
            fault_injection::fail(unit, self.request, effort, parsed)?;
            let start = Instant::now();
            pipeline::optimize(module, &machine, effort, unit_is)?;
            let optimized = Instant::now();
            let bytes = machine.object(module, effort)?;
            progress::step();
            tracing::debug!(
                target: log::LLVM,
                passes_ms = %log::ms(optimized - start),
                code_ms = %log::ms(optimized.elapsed()),
                bytes = bytes.len(),
                "generated code"
            );
            bytes
        };
        let errors = parsed.take_errors();
        if !errors.is_empty() {
            machine.forget_passes();
            return Err(errors.into());
        }
        lap(2);
        Ok(Object {
            level: unit.level,
            bytes,
            functions: rewired.compiled,
            entries: rewired.entries,
            skipped: rewired.skipped,
            degraded: Vec::new(),
            transient: false,
            times,
        })
    }

    /// Returns the numbers of the functions to read for a unit, in order; `None` for all.
    fn wanted(&self, unit: &Unit) -> Option<Vec<usize>> {
        let mut wanted = unit.functions.clone()?;
        wanted.extend(unit.entries.iter().map(|e| e.function));
        wanted.sort_unstable();
        wanted.dedup();
        Some(wanted)
    }

    /// Reads the unit's functions in a module of the whole program. Returns the variables that it
    /// added.
    fn read_selected<'m>(
        &self,
        module: Module<'m>,
        unit: &Unit,
    ) -> Result<Vec<Variable<'m>>, String> {
        let names = &self.request.names;
        let wanted = self.wanted(unit);
        let wanted = wanted.unwrap_or_else(|| (0..names.len()).collect());
        // Variables may hold labels of any function. LLVM reads a label only with its function.
        let holders = self.request.labels.iter().map(|l| l.function);
        let read = wanted.iter().copied().chain(holders);
        let read: Vec<&str> = read.map(|n| &*names[n]).collect();
        super::shim::read_selected(module, &read, true)?;
        self.lower_labels(module, &wanted)
    }

    /// Creates the unit's OSR entries in a module that has its functions. `symbols` are the
    /// module's, unless it has all of the program's; `added` are variables of neither.
    fn add_entries<'m>(
        &self,
        module: Module<'m>,
        unit: &Unit,
        symbols: Option<rewire::Symbols<'m>>,
        added: Vec<Variable<'m>>,
    ) -> Result<Read<'m>, String> {
        super::shim::expand_thread_locals(module, self.request.switches_stacks);
        super::shim::lower_checked_loads(module);
        if self.request.contracted {
            super::contract::contract(module);
        }
        let mut read = Read {
            symbols,
            extra: Vec::new(),
            failed: Vec::new(),
            added,
        };
        if unit.entries.is_empty() {
            return Ok(read);
        }
        let all: HashMap<usize, Function<'m>> = match &read.symbols {
            Some(symbols) => symbols.functions.iter().copied().collect(),
            None => module.functions().enumerate().collect(),
        };
        for (index, entry) in unit.entries.iter().enumerate() {
            let Some(&function) = all.get(&entry.function) else {
                return Err("the files changed since they were read".into());
            };
            let name = format!("ompvm.o{}.{}", entry.function, entry.block);
            match super::shim::osr_entry(
                function,
                entry.block,
                &name,
                entry.words,
                &entry.locations,
                unit.level == Level::Quick,
            ) {
                Ok(value) => read.extra.push(rewire::OsrFunction {
                    index,
                    function: entry.function,
                    name,
                    value,
                }),
                Err(why) => {
                    let why = format!("its loop stays interpreted: {why}");
                    read.failed.push((entry.function, why));
                }
            }
        }
        if let Some(list) = &unit.functions {
            for entry in &unit.entries {
                if !list.contains(&entry.function) {
                    // SAFETY: the entries are made, and no handle of the body is used again.
                    unsafe { all[&entry.function].drop_body() };
                }
            }
        }
        Ok(read)
    }

    /// Makes label addresses those of the other tiers. Drops the bodies of the functions that are
    /// not `wanted`. Returns the variables that it added.
    fn lower_labels<'m>(
        &self,
        module: Module<'m>,
        wanted: &[usize],
    ) -> Result<Vec<Variable<'m>>, String> {
        let mut added = Vec::new();
        if self.request.labels.is_empty() {
            return Ok(added);
        }
        let all: Vec<_> = module.functions().collect();
        for LabelAddresses { function, labels } in &self.request.labels {
            let Some(&of) = all.get(*function) else {
                return Err("the files changed since they were read".into());
            };
            if of.is_declaration() {
                continue;
            }
            if !labels.is_empty() {
                let name = symbol::Symbol::Labels(*function).to_string();
                let start = module.add_variable(&name, module.context().int(8), 0);
                added.push(start);
                if *start.name() != *name {
                    return Err(format!("the program has a symbol `{name}`"));
                }
                added.extend(super::shim::lower_labels(of, start, labels));
                if !wanted.contains(function) {
                    // SAFETY: nothing refers to the body's blocks any more, and no handle of the
                    // body is used again.
                    unsafe { of.drop_body() };
                }
            }
        }
        Ok(added)
    }
}
