//! A program's files as the bitcode that units are read from.
//!
//! Each unit opens the bitcode anew and reads its own functions. Where the program has full debug information, opening
//! also reads the types of most declarations, and each unit removes them again: a quarter of the compile time of LULESH
//! with `-g`. So there is a second form with line tables only. The reader of the program writes it while the program
//! runs already ([`write_line_tables`]); later runs find it in the cache. Where there is neither, it is written once
//! opening has taken about as long as that would.
//!
//! Leaves to others: which functions are read (`Session`), and where the cache keeps bytes (`cache`).

use super::Debug;
use crate::ir::LineTables;
use crate::llvm::parse::{self, Parsed};
use crate::llvm::{Input, contain, shim};
use crate::support::limits;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Processor time for putting a program's files together: some hundred times what is usual.
const MERGE: Duration = Duration::from_secs(120);
/// Time to read a program whole and write it with line tables, per byte of bitcode (LULESH, with `-g`).
const WRITING: Duration = Duration::from_nanos(100);

/// The program's files as one piece of bitcode.
#[derive(Debug)]
pub struct Bitcode {
    files: Arc<[(String, Vec<u8>)]>,
    /// The files as one, where they are not one piece of bitcode.
    merged: OnceLock<Result<Vec<u8>, String>>,
    line_tables: LineTables,
    /// Nanoseconds that units spent opening files with types.
    opening: AtomicU64,
    /// Set once a unit writes line tables.
    writing: AtomicBool,
}

impl Bitcode {
    /// Takes one file of bitcode as it is; anything else is read, linked and written to memory at its first use.
    pub fn new(files: Arc<[(String, Vec<u8>)]>, line_tables: LineTables) -> Bitcode {
        Bitcode {
            files,
            merged: OnceLock::new(),
            line_tables,
            opening: AtomicU64::new(0),
            writing: AtomicBool::new(false),
        }
    }

    /// The whole program as one file.
    ///
    /// # Errors
    /// LLVM's message when its files cannot be put together.
    pub fn bytes(&self) -> Result<&[u8], String> {
        if let [(_, bytes)] = &self.files[..]
            && parse::is_bitcode(bytes)
        {
            return Ok(bytes);
        }
        let merged = self.merged.get_or_init(|| {
            let input = |(name, bytes): &(String, Vec<u8>)| Input {
                name: name.clone(),
                bytes: bytes.clone(),
            };
            let inputs: Vec<Input> = self.files.iter().map(input).collect();
            let merged = contain::run(MERGE, || parse::merge(&inputs));
            merged.map_err(|f| f.why)?.map_err(|e| e.to_string())
        });
        merged.as_deref().map_err(String::clone)
    }

    /// Bytes of all files.
    pub(super) fn size(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// The program with line tables only, if it has more than those and they are written.
    pub fn line_tables(&self) -> Option<&[u8]> {
        self.line_tables.get().map(|bytes| &bytes[..])
    }

    /// Takes line tables that an earlier run has written.
    pub fn take_line_tables(&self, bytes: Vec<u8>) {
        // The reader's are as good.
        let _ = self.line_tables.set(bytes.into());
    }

    /// Returns the bitcode that a unit is read from, and true if only line tables are in it.
    ///
    /// # Errors
    /// As for [`Bitcode::bytes`].
    pub(super) fn for_unit(&self, debug: Debug) -> Result<(&[u8], bool), String> {
        match self.line_tables() {
            Some(bytes) if debug == Debug::Lines => Ok((bytes, true)),
            _ => Ok((self.bytes()?, false)),
        }
    }

    /// Notes how long a unit has taken to open a program with types. Writes line tables when that sums up, unless
    /// address space is limited.
    pub(in crate::llvm) fn opened(&self, time: Duration) {
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
            write_line_tables(parsed, &self.line_tables);
        }
    }
}

/// Writes a program that has been read with line tables only, unless it has no more than those. Where address space is
/// limited it is the guest's, and nothing is written.
pub(in crate::llvm) fn write_line_tables(parsed: Parsed, to: &LineTables) {
    if limits::address_space().is_some() {
        return;
    }
    // Where LLVM gives up in the middle the module stays allocated, and units are read from the program's files.
    let parsed = ManuallyDrop::new(parsed);
    if let Ok(written) = contain::run_beside(MERGE, || shim::write_with_line_tables(parsed.module))
    {
        if let Some(bytes) = written {
            let _ = to.set(bytes);
        }
        drop(ManuallyDrop::into_inner(parsed));
    }
}
