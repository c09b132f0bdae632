//! Parallel reading of one large file.
//!
//! At the start of a program nothing else can be done, most processors are idle, and reading is a
//! large part of a short run. An LLVM context belongs to one thread, so every thread opens the file
//! in its own context (which costs it the types and declarations), takes functions from a shared
//! list, and copies them into shared tables ([`Tables`]); the first thread also copies the
//! variables. Each thread verifies what it has read.
//!
//! The compiler reads its units from the same file. Opening it takes longer than compiling a small
//! unit, so the threads leave a file of usual size open for that ([`OpenedProgram`]).
//!
//! This module does not diagnose files. Anything unusual, such as a file of another LLVM or a
//! function that does not verify, results in `None`; the file is then read on one thread, which
//! reports the error.

use super::native::OpenedProgram;
use super::parse::{self, Parsed};
use super::reader::Reader;
use super::tables::Tables;
use super::{Input, contract, guard, shim};
use ompvm_ir::{Function, Module, Opened};
use ompvm_support::{limits, topology};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of bitcode that are worth a thread, given that each reads types and declarations again.
const WORTH: usize = 24 << 10;
/// Most threads: each holds the declarations in memory, so more threads gain less.
const MOST: usize = 4;
/// Number of threads if reading on several is asked for.
pub(super) const SEVERAL: usize = 3;
/// Size of the largest file that is read in parallel, since each thread multiplies its memory.
const LARGE: usize = 16 << 20;
/// Size of the largest file that is left open. A module takes some twenty times the memory.
const LEFT_OPEN: usize = 2 << 20;

/// Returns the number of threads to read a file of that size with now.
pub(super) fn worthwhile(bytes: usize) -> usize {
    if !(2 * WORTH..=LARGE).contains(&bytes) {
        return 1;
    }
    let others = topology::running_threads().saturating_sub(1);
    let idle = topology::usable_cpus().saturating_sub(others);
    (bytes / WORTH).min(idle).clamp(1, MOST)
}

/// State shared by the threads.
struct Work {
    /// The file's name and contents.
    file: Arc<[(String, Vec<u8>)]>,
    contract: bool,
    /// Index of the next unread function among those with a body.
    next: AtomicUsize,
    tables: Mutex<Tables>,
}

/// The part of the module that one thread has read.
struct Part {
    /// The module's other symbols, from the first thread.
    module: Option<Module>,
    /// Functions with their numbers.
    functions: Vec<(usize, Function)>,
    /// Names of all functions, as this thread has read them.
    names: Vec<Box<str>>,
}

/// Reads a bitcode file on that many threads; `None` if that is impossible.
pub(super) fn read(file: &Input, contract: bool, threads: usize) -> Option<Module> {
    let work = Arc::new(Work {
        file: Arc::new([(file.name.clone(), file.bytes.clone())]),
        contract,
        next: AtomicUsize::new(0),
        tables: Mutex::default(),
    });
    let limits = guard::ResourceLimits::for_reading(file.bytes.len());
    let opened = Opened::default();
    let leave_open = file.bytes.len() <= LEFT_OPEN && limits::address_space().is_none();
    let part = |first: bool| {
        let work = work.clone();
        let opened = leave_open.then(|| opened.clone());
        let read = move || {
            let (part, parsed) = work.part(first)?;
            let program = OpenedProgram::new(parsed, work.file.clone());
            // Freed, or left to the compiler, while the program already runs.
            let later = move || match opened.as_ref().map(|opened| opened.lock()) {
                Some(Ok(mut opened)) => opened.push(Box::new(program)),
                _ => drop(program),
            };
            Some((part, Box::new(later) as guard::Deferred))
        };
        guard::run_with_deferred(&limits, read).ok()?
    };
    let parts: Vec<Option<Part>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| part(false))).collect();
        let first = part(true);
        let others = others.into_iter().map(|other| other.join().ok()?);
        std::iter::once(first).chain(others).collect()
    });
    let mut parts: Vec<Part> = parts.into_iter().collect::<Option<_>>()?;
    let mut module = parts[0].module.take()?;
    let names = std::mem::take(&mut parts[0].names);
    let mut functions: Vec<Option<Function>> = Vec::new();
    functions.resize_with(names.len(), || None);
    if parts[1..].iter().any(|part| part.names != names) {
        return None;
    }
    for part in parts {
        for (number, function) in part.functions {
            functions[number] = Some(function);
        }
    }
    module.functions = functions
        .into_iter()
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .collect();
    std::mem::take(&mut *work.tables.lock()).put(&mut module);
    module.contracted = contract;
    module.files = work.file.clone();
    module.opened = opened;
    Some(module)
}

impl Work {
    fn part(&self, first: bool) -> Option<(Part, Parsed)> {
        let (name, bytes) = &self.file[0];
        if !shim::is_current(bytes) {
            return None;
        }
        let parsed = parse::open(bytes, false).ok()?;
        let module = parsed.module();
        shim::read_metadata(module).ok()?;
        parse::is_for_host(module).ok()?;
        let functions: Vec<_> = module.functions().collect();
        let bodies = functions.iter().filter(|f| !f.is_declaration()).count();
        let mut own = Vec::new();
        let mut with_body = functions.iter().copied().enumerate();
        let mut taken = self.next.fetch_add(1, Ordering::Relaxed);
        let mut passed = 0;
        while taken < bodies {
            let (number, function) = with_body.find(|(_, f)| {
                let body = !f.is_declaration();
                passed += usize::from(body);
                body && passed == taken + 1
            })?;
            shim::read_function(function).ok()?;
            own.push(number);
            taken = self.next.fetch_add(1, Ordering::Relaxed);
        }
        // Reading an outdated function may have replaced others.
        if !module.functions().eq(functions) || module.verify().is_err() {
            return None;
        }
        shim::copy_abi_attributes(module);
        let switches = shim::switches_stacks(module);
        shim::expand_thread_locals(module, switches);
        shim::lower_checked_loads(module);
        if self.contract {
            contract::contract(module);
        }
        let mut reader = Reader::new(&parsed, &self.tables);
        let functions = reader.number_all();
        if first {
            let all = functions.iter().enumerate();
            own.extend(all.filter(|(_, f)| f.is_declaration()).map(|(n, _)| n));
        }
        let part = Part {
            module: first.then(|| Module {
                switches_stacks: switches,
                ..reader.symbols(name)
            }),
            functions: own
                .iter()
                .map(|&n| (n, reader.function(functions[n])))
                .collect(),
            names: functions.iter().map(|f| f.name()).collect(),
        };
        drop(reader);
        Some((part, parsed))
    }
}
