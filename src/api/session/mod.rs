//! Sessions: programs in C that grow by cells, for notebooks and `ompvm repl`.
//!
//! Each cell is compiled to a module of its own, which is linked to the variables and functions of
//! the cells before. A cell's [`items`] become global declarations, and a function with its
//! statements ([`program`]). One run of clang compiles it ([`compiler`]); its last expression is
//! shown by type ([`shown`]).
//!
//! Leaves reading the user's lines to the command line.

mod compiler;
mod declaration;
mod items;
mod lex;
mod program;
mod shown;

use super::process::ExitStatus;
use super::{Config, Engine, Linker, Module, Process};
use compiler::CellCompiler;
use ompvm_memory::heap_limit::HeapLimit;
use ompvm_support::error::Error;
use program::{CellProgram, EXTENT, Entry};
use shown::Shown;
use std::collections::HashSet;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Part of clang's message about an initial value that is no constant.
const NO_CONSTANT: &str = "initializer element is not a compile-time constant";

/// A program in C that grows by cells. Its threads, variables and heap persist from cell to cell.
///
/// A cell holds directives, declarations, functions and statements, in C and OpenMP. Variables
/// outside of braces are global: later cells see them, as they see functions, types, macros and
/// included headers. A variable or function that is declared again replaces the older one for later
/// cells; functions of earlier cells keep what they were compiled with. If the last item is an
/// expression without `;`, its value is shown.
///
/// Each cell takes one run of clang, which `ompvm cc` finds, too. It is compiled with `-O2 -g
/// -fopenmp` and the engine's [`Engine::compiler_flags`].
///
/// ```no_run
/// use ompvm::api::{Config, Engine, Error, Session, Tier};
/// # fn main() -> Result<(), Error> {
/// let engine = Engine::default();
/// let mut session = Session::new(&engine, Config::new().tier(Tier::Auto))?;
/// session.run("double sum = 0; int n = 1000;")?;
/// session.run("#pragma omp parallel for reduction(+: sum)\nfor (int i = 0; i < n; i++) sum += i;")?;
/// assert_eq!(session.run("sum / n")?.value.as_deref(), Some("499.5"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    engine: Engine,
    config: Config,
    linker: Linker,
    compiler: CellCompiler,
    shown: Shown,
    entries: Vec<Entry>,
    /// The last process is dropped first.
    processes: Vec<Arc<Process>>,
    /// Threads that end the search for hot functions in cells that have run.
    stopping: Vec<JoinHandle<()>>,
    cells: usize,
}

/// Result of a cell.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Evaluation {
    /// Value of the last expression as text, if the cell ends with one that has a value.
    pub value: Option<String>,
    /// Warnings of the compiler.
    pub warnings: String,
    /// Set if the cell called `exit`. Handlers of `atexit` have run then.
    pub exit: Option<ExitStatus>,
}

/// How far a text is from a complete cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completeness {
    /// The text can be run.
    Complete,
    /// More may follow: a declaration without `;`, a loop or a pragma without its statement.
    Unfinished,
    /// More must follow: a bracket, a comment or a continued line is open.
    Open,
}

impl Session {
    /// Starts a session without cells. Each cell runs with this configuration.
    ///
    /// # Errors
    /// Returns [`Error::Host`] if the system has no memory.
    pub fn new(engine: &Engine, mut config: Config) -> Result<Session, Error> {
        config.shared_limit = config.memory_limit.map(HeapLimit::new).transpose()?;
        let mut linker = Linker::new(engine);
        let shown = Shown::default();
        shown.define(&mut linker)?;
        Ok(Session {
            engine: engine.clone(),
            config,
            linker,
            compiler: CellCompiler::new(engine.clone()),
            shown,
            entries: Vec::new(),
            processes: Vec::new(),
            stopping: Vec::new(),
            cells: 0,
        })
    }

    /// Returns the linker of the session, to define functions of the host for its cells. A cell
    /// declares those that it uses.
    pub fn linker(&mut self) -> &mut Linker {
        &mut self.linker
    }

    /// Returns whether a text is a complete cell. A line editor asks this after each line.
    pub fn completeness(&self, text: &str) -> Completeness {
        let items = items::split(text, &|name| self.is_value(name));
        match (items.inside, items.open) {
            (true, _) => Completeness::Open,
            (false, true) => Completeness::Unfinished,
            (false, false) => Completeness::Complete,
        }
    }

    /// Returns the name of the next cell in messages, such as `cell-3`.
    pub fn next_name(&self) -> String {
        format!("cell-{}", self.cells + 1)
    }

    /// Compiles and runs a cell on this thread.
    ///
    /// # Errors
    /// Returns [`Error::Input`] with the compiler's messages, [`Error::Unsupported`] and
    /// [`Error::Unresolved`] for a cell that cannot be run: then nothing of it remains. Returns
    /// [`Error::Trap`] for a fault; the cell's declarations and what it did before remain.
    pub fn run(&mut self, text: &str) -> Result<Evaluation, Error> {
        let name = self.next_name();
        self.cells += 1;
        let result = self.run_named(&name, text);
        self.compiler.prepare();
        result
    }

    fn run_named(&mut self, name: &str, text: &str) -> Result<Evaluation, Error> {
        let items = items::split(text, &|name| self.is_value(name));
        if items.list.is_empty() {
            return Ok(Evaluation::default());
        }
        let write = |all| program::write(name, text, &items, &self.entries, all);
        let mut program = write(false)?;
        let mut compiled = self.compiler.compile(name, program.text.clone());
        if let Err(Error::Input { cause, .. }) = &compiled
            && cause.contains(NO_CONSTANT)
        {
            program = program::write(name, text, &items, &self.entries, true)?;
            let again = self.compiler.compile(name, program.text.clone());
            if again.is_ok() {
                compiled = again;
            }
        }
        let (bitcode, warnings) = compiled?;
        let module = Module::from_bytes(&self.engine, name, &bitcode)?;
        let process = self.linker.link(&module)?.start(self.config.clone())?;
        // The environment is set once: a thread of a cell may read it later.
        self.config.env.clear();
        let process = Arc::new(process);
        self.linker.process(&process);
        self.processes.push(process.clone());
        self.remember(&process, &program);
        let run = program.function.as_deref().map(|function| {
            // SAFETY: the cell's function takes no arguments.
            unsafe { process.call_cell(function) }
        });
        if !program.defines_functions {
            let process = process.clone();
            let stop = move || process.stop_sampling();
            self.stopping.retain(|thread| !thread.is_finished());
            // Without a thread the search goes on until the session ends.
            self.stopping
                .extend(std::thread::Builder::new().spawn(stop).ok());
        }
        flush_output();
        let value = self.shown.take();
        Ok(Evaluation {
            exit: run.transpose()?.flatten(),
            value,
            warnings,
        })
    }

    fn is_value(&self, name: &str) -> bool {
        let mut values = self.entries.iter().filter(|e| e.is_value);
        values.any(|e| e.names.iter().any(|n| n == name))
    }

    /// Keeps the declarations of a started cell for later ones.
    fn remember(&mut self, process: &Process, program: &CellProgram) {
        let names: HashSet<&str> = program
            .entries
            .iter()
            .flat_map(|e| e.names.iter().map(String::as_str))
            .collect();
        self.entries.retain(|e| !program::is_replaced(e, &names));
        let first = self.entries.len();
        self.entries.extend(program.entries.iter().cloned());
        for name in &program.extents {
            let Some(extent) = process.global::<u64>(&program::extent_name(name)) else {
                continue;
            };
            // SAFETY: the cell defines a constant of this type.
            let extent = unsafe { extent.read() }.to_string();
            for entry in &mut self.entries[first..] {
                if entry.names.contains(name) {
                    entry.text = entry.text.replace(EXTENT, &extent);
                }
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for thread in self.stopping.drain(..) {
            let _ = thread.join();
        }
        // Later cells use earlier ones, and register their exit handlers later.
        self.linker = Linker::new(&self.engine);
        while self.processes.pop().is_some() {}
    }
}

/// Writes what the cells printed, so that it comes before the host's own output.
fn flush_output() {
    // SAFETY: `fflush` accepts null, for every stream.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}
