//! From a program's files to machine code in this process, one unit at a time.
//!
//! What: [`Session::compile`] reads the functions of a [`Unit`] into a context of its own (LLVM is
//! single-threaded per context), rewires every symbol to a name that says what it stands for
//! ([`symbol`], [`prepare`]), runs the passes and generates an object file for this processor
//! ([`pipeline`]), which `jit::link` puts into low memory. Why low memory and 32-bit addresses: data
//! and code are then addressed as in a native executable that is linked at a fixed place.
//!
//! What not: nothing knows the interpreter; no address is known before linking.

mod attempts;
mod bitcode;
mod debug;
mod entries;
mod injected;
pub mod landing;
pub(in crate::llvm) mod pipeline;
mod prepare;
mod processor;
pub mod single;
pub mod symbol;

use super::parse;
pub use super::shim::{Place, PlaceKind};
pub use attempts::CANNOT;
pub use bitcode::Bitcode;
pub(in crate::llvm) use bitcode::write_line_tables;
pub use debug::Debug;
pub use entries::leave_out as leave_entries_out;
pub use pipeline::{features_with, lacks};
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
    /// The name of each function.
    pub names: Vec<Box<str>>,
    /// What becomes of each function.
    pub functions: Vec<Function>,
    /// One per variable, LLVM's own bookkeeping left out.
    pub variables: Vec<Variable>,
    /// Whether a cell at a fixed distance from the thread pointer holds the address of the
    /// thread's block.
    pub thread_cell: bool,
    /// What describes the code.
    pub debug: Debug,
    /// Whether the functions were read with `llvm.fmuladd` rounding once where that pays.
    pub contracted: bool,
}

/// What one object file is made of.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Numbers of the functions; `None` is all of them.
    pub functions: Option<Vec<usize>>,
    /// Loops to be entered from interpreted code; their functions are not among those above.
    pub entries: Vec<LoopEntry>,
    /// How much effort goes into its code.
    pub level: Level,
    /// Makes its code quickly, to count as made with that effort.
    pub plain: bool,
}

/// A way into a function at the head of one of its loops: code of its own, a
/// `i32 (slots, result, flag)` that takes an interpreter's frame over, and gives the block to go on at or leaves
/// the result's slot form. Made quickly, it leaves at its head when the flag is set.
#[derive(Clone, Debug)]
pub struct LoopEntry {
    /// The function's number.
    pub function: usize,
    /// The block's number in it.
    pub block: u32,
    /// Words of the result.
    pub words: u32,
    /// Where its parameters and instructions are in the frame.
    pub places: Arc<[Place]>,
}

/// How much effort goes into code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Level {
    /// The IR as it came, but for inlining.
    Quick,
    /// What long runs are worth.
    #[default]
    Full,
}

/// A unit as machine code that is not yet at its place.
#[derive(Debug)]
pub struct Object {
    /// How much effort went into it.
    pub level: Level,
    /// An ELF object file; empty where nothing could be compiled.
    pub bytes: Vec<u8>,
    /// Number and symbol of each compiled function.
    pub functions: Vec<(usize, String)>,
    /// Index in [`Unit::entries`] and symbol of each loop entry.
    pub entries: Vec<(usize, String)>,
    /// Functions and entries left to the tier below, and why.
    pub skipped: Vec<(usize, String)>,
    /// Functions that have less effort in their code than the level says, and why.
    pub plain: Vec<(usize, String)>,
    /// Set if another attempt may give more.
    pub transient: bool,
    /// Time for reading, rewiring and code generation.
    pub times: [Duration; 3],
}

/// Why a unit could not be compiled.
#[derive(Debug)]
enum Trouble {
    /// No unit of the program can be.
    Whole(String),
    /// Something in it cannot be.
    Part {
        /// One sentence without a full stop.
        why: String,
        /// The symbol of the function that cannot be, where it is known.
        culprit: Option<String>,
        /// Another time it may be.
        transient: bool,
    },
}

impl From<String> for Trouble {
    fn from(why: String) -> Trouble {
        Trouble::Part {
            why,
            culprit: None,
            transient: false,
        }
    }
}

impl From<super::shim::Grown> for Trouble {
    fn from(grown: super::shim::Grown) -> Trouble {
        Trouble::Part {
            why: grown.what,
            culprit: Some(grown.culprit).filter(|c| !c.is_empty()),
            transient: false,
        }
    }
}

/// What compiles units of a program, on one thread.
#[derive(Debug)]
pub struct Session<'r> {
    request: &'r Request,
    bitcode: &'r Bitcode,
}

impl<'r> Session<'r> {
    /// For the units of a request.
    pub fn open(request: &'r Request, bitcode: &'r Bitcode) -> Session<'r> {
        super::initialise_target();
        Session { request, bitcode }
    }

    /// Compiles a unit. Only its functions are read from the bitcode, into a context that is
    /// dropped at the end: what a unit leaves behind is its object.
    fn attempt(&self, unit: &Unit) -> Result<Object, Trouble> {
        let mut times = [Duration::ZERO; 3];
        let mut last = Instant::now();
        let mut lap = |i: usize| {
            times[i] = last.elapsed();
            last = Instant::now();
        };
        let effort = match unit.plain {
            true => Level::Quick,
            false => unit.level,
        };
        let debug = self.request.debug;
        let (bytes, lean) = self.bitcode.for_unit(debug).map_err(Trouble::Whole)?;
        let parsed = parse::open(bytes, debug == Debug::Full).map_err(Trouble::Whole)?;
        let (extra, failed) = self.read(&parsed, unit).map_err(Trouble::Whole)?;
        let typed = !lean && super::shim::has_types(parsed.module);
        lap(0);
        let prepared = prepare::prepare(&parsed, self.request, effort, &extra);
        let mut prepared = prepared.map_err(Trouble::Whole)?;
        prepared.skipped.extend(failed);
        lap(1);
        let bytes = {
            let machine = pipeline::Machine::host(parsed.module, prepared.position_independent)?;
            if !lean {
                debug.apply(parsed.module, &machine)?;
            }
            let several = prepared.compiled.len() + prepared.entries.len() > 1;
            let unit_is = pipeline::Properties {
                inline: prepared.inline,
                several,
                wide: prepared.wide,
            };
            injected::fail(unit, &self.request.names, effort, &parsed)?;
            pipeline::run(parsed.module, &machine, effort, unit_is)?;
            machine.object(parsed.module)?
        };
        let errors = parsed.take_errors();
        if !errors.is_empty() {
            return Err(errors.into());
        }
        drop(parsed);
        lap(2);
        if typed && debug == Debug::Lines {
            self.bitcode.opened(times[0]);
        }
        Ok(Object {
            level: unit.level,
            bytes,
            functions: prepared.compiled,
            entries: prepared.entries,
            skipped: prepared.skipped,
            plain: Vec::new(),
            transient: false,
            times,
        })
    }

    /// Reads the unit's functions and makes its loop entries; says which of them cannot be made.
    #[expect(clippy::type_complexity, reason = "two lists")]
    fn read(
        &self,
        parsed: &parse::Parsed,
        unit: &Unit,
    ) -> Result<(Vec<prepare::Extra>, Vec<(usize, String)>), String> {
        let names = &self.request.names;
        let entries = unit.entries.iter().map(|e| e.function);
        let wanted: Vec<usize> = match &unit.functions {
            None => (0..names.len()).collect(),
            Some(list) => list.iter().copied().chain(entries).collect(),
        };
        let wanted: Vec<&str> = wanted.iter().map(|&n| &*names[n]).collect();
        super::shim::select(parsed.module, &wanted, true)?;
        super::shim::expand_thread_locals(parsed.module);
        super::shim::lower_checked_loads(parsed.module);
        if self.request.contracted {
            super::contract::contract(parsed.module);
        }
        let (mut extra, mut failed) = (Vec::new(), Vec::new());
        if unit.entries.is_empty() {
            return Ok((extra, failed));
        }
        let all = parse::functions(parsed.module);
        for (index, entry) in unit.entries.iter().enumerate() {
            let Some(&function) = all.get(entry.function) else {
                return Err("the files changed since they were read".into());
            };
            let name = format!("ompvm.o{}.{}", entry.function, entry.block);
            match super::shim::loop_entry(
                function,
                entry.block,
                &name,
                entry.words,
                &entry.places,
                unit.level == Level::Quick,
            ) {
                Ok(value) => extra.push(prepare::Extra {
                    index,
                    function: entry.function,
                    name,
                    value,
                }),
                Err(why) => {
                    failed.push((entry.function, format!("its loop stays interpreted: {why}")))
                }
            }
        }
        if let Some(list) = &unit.functions {
            for entry in &unit.entries {
                if !list.contains(&entry.function) {
                    super::shim::forget_body(all[entry.function]);
                }
            }
        }
        Ok((extra, failed))
    }
}
