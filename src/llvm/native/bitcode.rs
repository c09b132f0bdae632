//! The bitcode that a program's units are read from.
//!
//! Units read their own functions from a [`Source`]. If the program has full debug information,
//! opening also reads the types of most declarations, and each unit strips them again, which is a
//! large part of compile time. Of bitcode of another version of LLVM each unit reads the whole. A
//! second form has line tables only, and this version's bitcode. The program's reader writes it
//! while the program already runs ([`write_line_tables`]); later runs find it in the cache.
//! Otherwise it is written once opening has taken about as long as writing would. Several files are
//! read in this form only, which the first unit links if the reader has not.
//!
//! The choice of functions is left to `Session`, and storage to `ompvm-cache`.

use super::source::{OpenedProgram, Source};
use super::{CompileRequest, DebugLevel};
use crate::parse::{self, Parsed};
use crate::{Input, contain, lazy_link, shim};
use ompvm_ir::{LineTables, Module, Opened};
use ompvm_support::limits;
use parking_lot::Mutex;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Processor time limit for linking a program's files; a hundred times the usual.
const MERGE: Duration = Duration::from_secs(120);
/// Time to read a whole program and write it with line tables, per byte of bitcode.
const WRITING: Duration = Duration::from_nanos(100);

/// The program's files as one piece of bitcode.
#[derive(Debug)]
pub struct Bitcode {
    /// Opened programs that no unit uses. They refer to the bytes in the fields below, which are
    /// dropped after them.
    sources: Mutex<Vec<Source>>,
    files: Arc<[(String, Vec<u8>)]>,
    /// The linked files, unless they are one piece of bitcode already.
    merged: OnceLock<Result<Vec<u8>, String>>,
    line_tables: LineTables,
    /// Programs that the reader has left open.
    opened: Opened,
    /// Nanoseconds that units have spent opening files with types.
    opening: AtomicU64,
    /// True once a unit writes line tables.
    writing: AtomicBool,
}

impl Bitcode {
    /// Takes the files of a module, and what its reader has left for the compiler.
    pub fn of(module: &Module) -> Bitcode {
        Bitcode {
            opened: module.opened.clone(),
            ..Bitcode::new(module.files.clone(), module.line_tables.clone())
        }
    }

    /// Takes a single bitcode file as it is; anything else is read, linked and written to memory on
    /// first use.
    pub fn new(files: Arc<[(String, Vec<u8>)]>, line_tables: LineTables) -> Bitcode {
        Bitcode {
            sources: Mutex::default(),
            files,
            merged: OnceLock::new(),
            line_tables,
            opened: Opened::default(),
            opening: AtomicU64::new(0),
            writing: AtomicBool::new(false),
        }
    }

    /// Returns the whole program as one file.
    ///
    /// # Errors
    /// Returns LLVM's message if the files cannot be linked.
    pub fn bytes(&self) -> Result<&[u8], String> {
        if let [(_, bytes)] = &self.files[..]
            && parse::is_bitcode(bytes)
        {
            return Ok(bytes);
        }
        let merged = self.merged.get_or_init(|| {
            let inputs = self.inputs();
            let merged = contain::run(MERGE, || match lazy_link::merge(&inputs) {
                Some(merged) => Ok(merged),
                None => parse::merge(&inputs).map_err(|e| e.to_string()),
            });
            merged.map_err(|f| f.why)?
        });
        merged.as_deref().map_err(String::clone)
    }

    fn inputs(&self) -> Vec<Input> {
        let input = |(name, bytes): &(String, Vec<u8>)| Input {
            name: name.clone(),
            bytes: bytes.clone(),
        };
        self.files.iter().map(input).collect()
    }

    /// Links the files if units are read from all of them with line tables, unless that was done.
    /// If the reader is at it, waits for it. It takes as long as the compilation of hundreds of
    /// functions.
    pub fn link(&self, debug: DebugLevel) {
        if debug != DebugLevel::Lines || self.files.len() < 2 {
            return;
        }
        self.line_tables.get_or_init(|| {
            let inputs = self.inputs();
            let written = contain::run(MERGE, || {
                let parsed = parse::parse(&inputs).ok()?;
                shim::write_with_line_tables(parsed.module(), true)
            });
            // Whoever reads the files themselves learns of an error.
            written.ok().flatten()
        });
    }

    /// Returns the size of all files, in bytes.
    pub(super) fn size(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Returns the program with line tables only, if it has more than those and they are written.
    pub fn line_tables(&self) -> Option<&[u8]> {
        self.line_tables.get()?.as_deref()
    }

    /// Sets line tables that an earlier run has written.
    pub fn take_line_tables(&self, bytes: Vec<u8>) {
        // If the reader has set its own, those are as good.
        let _ = self.line_tables.set(Some(bytes.into()));
    }

    /// Returns the bitcode to read a unit from, and true if it has line tables only.
    ///
    /// # Errors
    /// Fails as [`Bitcode::bytes`] does.
    pub(super) fn for_unit(&self, debug: DebugLevel) -> Result<(&[u8], bool), String> {
        self.link(debug);
        match self.line_tables() {
            Some(bytes) if debug == DebugLevel::Lines => Ok((bytes, true)),
            _ => Ok((self.bytes()?, false)),
        }
    }

    /// Takes a source of the bitcode that [`Bitcode::for_unit`] returned. Returns `None` if units
    /// must read the program as a whole.
    ///
    /// # Errors
    /// Returns LLVM's message.
    pub(super) fn source(
        &self,
        bytes: &[u8],
        request: &CompileRequest,
    ) -> Result<Option<Source>, String> {
        // A child of `fork` may find it locked.
        let kept = self.sources.try_lock().and_then(|mut kept| {
            kept.retain(|source| source.serves(bytes));
            kept.pop()
        });
        match kept.or_else(|| self.left_open(bytes, request)) {
            Some(source) => Ok(Some(source)),
            None => Source::open(bytes, request),
        }
    }

    /// Takes over a program that the reader has left open, if units are read from its file.
    fn left_open(&self, bytes: &[u8], request: &CompileRequest) -> Option<Source> {
        let (_, file) = self.files.first()?;
        if !std::ptr::eq(bytes, &**file) {
            return None;
        }
        let opened = self.opened.try_lock().ok()?.pop()?;
        let opened = opened.downcast::<OpenedProgram>().ok()?;
        Source::take_over(*opened, &self.files, request)
    }

    /// Keeps a source for the next unit.
    pub(super) fn keep(&self, source: Source) {
        if let Some(mut kept) = self.sources.try_lock() {
            kept.push(source);
        }
    }

    /// Frees the sources that no unit uses.
    pub fn close(&self) {
        let kept = self
            .sources
            .try_lock()
            .map(|mut kept| std::mem::take(&mut *kept));
        drop(kept);
        let opened = self.opened.try_lock();
        drop(opened.map(|mut opened| std::mem::take(&mut *opened)));
    }

    /// Records the time that a unit took to open a program with types, or of another version of
    /// LLVM. Writes line tables once the total exceeds the cost of writing, unless address space is
    /// limited.
    pub(crate) fn opened(&self, time: Duration) {
        let price = WRITING * u32::try_from(self.size()).unwrap_or(u32::MAX);
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let so_far = self.opening.fetch_add(time, Ordering::Relaxed);
        let spent = Duration::from_nanos(so_far.saturating_add(time));
        let known = self.line_tables().is_some() || limits::address_space().is_some();
        if known || spent < price || self.writing.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Ok(bytes) = self.bytes()
            && let Ok(Ok(parsed)) = contain::run(MERGE, || parse::whole(bytes))
        {
            write_line_tables(parsed, &self.line_tables, !shim::is_current(bytes));
        }
    }
}

/// Writes a program with line tables only; unless it has no more than those, or `always`. If address
/// space is limited, it is left to the guest and nothing is written.
pub(crate) fn write_line_tables(parsed: Parsed, to: &LineTables, always: bool) {
    let needless = !always && !shim::has_types(parsed.module());
    if needless || limits::address_space().is_some() {
        return;
    }
    // Freed only once others have the bytes. If LLVM gives up midway, the module stays allocated,
    // and units are read from the program's files.
    let mut parsed = Some(ManuallyDrop::new(parsed));
    let mut written = None;
    to.get_or_init(|| {
        let parsed = parsed.take()?;
        let write = || shim::write_with_line_tables(parsed.module(), always);
        let bytes = contain::run_beside_start(MERGE, write).ok()?;
        written = Some(parsed);
        bytes
    });
    drop(parsed.or(written).map(ManuallyDrop::into_inner));
}
