//! What earlier runs compiled, on disk: a program's second run neither parses nor compiles.
//!
//! What: a [`Cache`] is a folder with one folder per program, named by the hash of everything its
//! code depends on ([`key`]); in it lie the module ([`crate::ir::saved`]), one object per unit
//! ([`Shelf`]), and what runs found out about the program, a few kilobytes. Why files and no database: a file that is written beside its place and renamed is
//! there whole or not at all, so any number of processes may use the folder at once without a lock
//! and the loser of a race wrote the same bytes. An entry says whose it is and carries a checksum
//! ([`entry`]); what is damaged is removed and made again. The least recently used programs go
//! when the folder grows over its limit ([`trim`]).
//!
//! What not: nothing here is needed to run: whatever fails is a note for `--stats`. An entry holds
//! no address, no number of threads, no thread-local offset.

mod entry;
mod key;
mod shelf;
#[cfg(test)]
mod tests;
mod trim;
mod unfinished;

use parking_lot::Mutex;
pub use shelf::Shelf;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
pub use unfinished::abandon;

/// How many bytes the folder may hold unless told otherwise.
const LIMIT: u64 = 1 << 30;

/// A folder of compiled programs.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    limit: u64,
}

/// What a cache holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Content {
    /// The folder.
    pub folder: PathBuf,
    /// Programs in it.
    pub programs: usize,
    /// Modules, objects and profiles of them.
    pub entries: usize,
    /// Their size.
    pub bytes: u64,
    /// What their size may be.
    pub limit: u64,
}

impl Cache {
    /// A cache in this folder, made when something is stored.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            root: folder.into(),
            limit: LIMIT,
        }
    }

    /// The user's: `$OMPVM_CACHE_DIR`, or `ompvm` in `$XDG_CACHE_HOME` or `~/.cache`, limited by
    /// `$OMPVM_CACHE_LIMIT` (bytes, or with K, M, G). `None` where there is no home.
    pub fn of_user() -> Option<Cache> {
        let named = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let absolute = |v: OsString| Some(PathBuf::from(v)).filter(|p| p.is_absolute());
        let folder = named("OMPVM_CACHE_DIR").map(PathBuf::from).or_else(|| {
            let base = named("XDG_CACHE_HOME").and_then(absolute);
            let home = || Some(named("HOME").and_then(absolute)?.join(".cache"));
            Some(base.or_else(home)?.join("ompvm"))
        });
        let Some(folder) = folder else {
            note("off, as there is no home");
            return None;
        };
        let limit = named("OMPVM_CACHE_LIMIT").and_then(|v| size(&v.to_string_lossy()));
        Some(Cache {
            root: folder,
            limit: limit.unwrap_or(LIMIT),
        })
    }

    /// How many bytes it may hold.
    pub fn limit(mut self, bytes: u64) -> Cache {
        self.limit = bytes;
        self
    }

    /// What it holds.
    pub fn content(&self) -> Content {
        let programs = trim::programs(&self.root);
        Content {
            folder: self.root.clone(),
            programs: programs.len(),
            entries: programs.iter().map(|p| p.entries).sum(),
            bytes: programs.iter().map(|p| p.bytes).sum(),
            limit: self.limit,
        }
    }

    /// Removes everything in it; how many programs that were.
    pub fn clear(&self) -> usize {
        let programs = trim::programs(&self.root);
        programs.iter().filter(|p| p.remove()).count()
    }

    /// The place of a program.
    pub fn shelf<'f>(&self, files: impl Iterator<Item = &'f [u8]>) -> Option<Shelf> {
        // Code in a folder that others may write to is not to be executed.
        if let Ok(meta) = fs::metadata(&self.root) {
            // SAFETY: asks for the user's number.
            let me = unsafe { libc::geteuid() };
            if meta.uid() != me || meta.mode() & 0o022 != 0 {
                note("off, as others may write to its folder");
                return None;
            }
        }
        let key = key::of(files);
        Some(Shelf::new(self.clone(), key))
    }

    /// Makes a program's folder, for this user alone.
    fn make(&self, folder: &Path) -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)
    }
}

/// The number of bytes a text says: digits, then nothing, K, M or G.
pub fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].trim() {
        "" => 0,
        "K" | "k" | "KB" | "KiB" => 10,
        "M" | "m" | "MB" | "MiB" => 20,
        "G" | "g" | "GB" | "GiB" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// What the caches of this process did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Modules that were not parsed.
    pub modules: u64,
    /// Objects that were not compiled.
    pub objects: u64,
    /// Objects that were compiled and not found before.
    pub compiled: u64,
    /// Entries written.
    pub stored: u64,
    /// Entries that were damaged and removed.
    pub damaged: u64,
    /// True if this process has used LLVM; what the cache knows needs none.
    pub llvm: bool,
    /// Why nothing is kept, if so.
    pub note: Option<String>,
}

static MODULES: AtomicU64 = AtomicU64::new(0);
static OBJECTS: AtomicU64 = AtomicU64::new(0);
static COMPILED: AtomicU64 = AtomicU64::new(0);
static STORED: AtomicU64 = AtomicU64::new(0);
static DAMAGED: AtomicU64 = AtomicU64::new(0);
static NOTE: Mutex<Option<String>> = Mutex::new(None);

fn note(text: impl Into<String>) {
    *NOTE.lock() = Some(text.into());
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Counts an object that had to be compiled.
pub(crate) fn compiled() {
    count(&COMPILED);
}

/// What was counted so far.
pub fn counts() -> Counts {
    let get = |c: &AtomicU64| c.load(Ordering::Relaxed);
    Counts {
        modules: get(&MODULES),
        objects: get(&OBJECTS),
        compiled: get(&COMPILED),
        stored: get(&STORED),
        damaged: get(&DAMAGED),
        llvm: super::late::started(),
        note: NOTE.lock().clone(),
    }
}
