//! The on-disk cache of compiled programs: the second run of a program neither parses nor compiles.
//!
//! A [`Cache`] is a folder with one [`CacheEntry`] per program, a subfolder named by the hash of
//! everything that the program's code depends on ([`key`]). It holds the module
//! ([`ompvm_ir::serialized`]), one object per compilation unit, and profiles of earlier runs, a few
//! kilobytes.
//!
//! An entry consists of plain files rather than rows of a database: a file that is written under a
//! temporary name and renamed is there completely or not at all. Any number of processes may use
//! the folder at once without a lock, and the loser of a race has written the same bytes. Each file
//! names its owner and carries a checksum ([`mod@file`]); damaged files are removed and made again.
//! When the folder exceeds its limit, the least recently used entries are evicted ([`evict`]).
//!
//! This crate calls no LLVM. It takes from `ompvm-llvm` the types of requests and objects
//! ([`ompvm_llvm::native`]), LLVM's version for the key, and, for `--stats`, whether LLVM has
//! started. The crates above pass a [`CacheEntry`] on and store bytes of their own in it: the
//! interpreter's thunks, the tiers' profiles, kernels of devices.
//!
//! No run depends on the cache: a failure becomes a note in `--stats`. A file holds no address, no
//! number of threads and no thread-local offset.

mod entry;
mod evict;
mod file;
mod key;
mod partial;
#[cfg(test)]
mod tests;

pub use entry::CacheEntry;
use ompvm_support::log;
use ompvm_support::settings::Settings;
use parking_lot::Mutex;
pub use partial::abandon;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of compiled programs.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    limit: u64,
}

/// Contents of a cache, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheContent {
    /// The folder.
    pub folder: PathBuf,
    /// Number of programs.
    pub programs: usize,
    /// Number of modules, objects and profiles.
    pub files: usize,
    /// Total size of the files, in bytes.
    pub bytes: u64,
    /// Limit of the total size, in bytes.
    pub limit: u64,
}

impl Cache {
    /// Creates a cache in this folder. The folder is created when something is stored.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            root: folder.into(),
            limit: Settings::DEFAULT.cache_limit,
        }
    }

    /// Returns the user's cache in the folder, and with the limit, of the settings. `None` if the
    /// user has no home folder.
    pub fn of_user(settings: &Settings) -> Option<Cache> {
        let Some(folder) = &settings.cache_folder else {
            note("off: neither OMPVM_CACHE_DIR, XDG_CACHE_HOME nor HOME names a folder");
            return None;
        };
        Some(Cache::new(folder).limit(settings.cache_limit))
    }

    /// Sets the limit of the folder, in bytes.
    pub fn limit(mut self, bytes: u64) -> Cache {
        self.limit = bytes;
        self
    }

    /// Counts the programs, files and bytes in the folder.
    pub fn content(&self) -> CacheContent {
        let programs = evict::programs(&self.root);
        CacheContent {
            folder: self.root.clone(),
            programs: programs.len(),
            files: programs.iter().map(|p| p.files).sum(),
            bytes: programs.iter().map(|p| p.bytes).sum(),
            limit: self.limit,
        }
    }

    /// Removes everything and returns the number of removed programs.
    pub fn clear(&self) -> usize {
        let programs = evict::programs(&self.root);
        programs.iter().filter(|p| p.remove()).count()
    }

    /// Returns the cache entry of a program; `None` if the folder is not safe to use.
    pub fn entry<'f>(&self, files: impl Iterator<Item = &'f [u8]>) -> Option<CacheEntry> {
        // Code from a folder that other users can write to must not be executed.
        if let Ok(meta) = fs::metadata(&self.root) {
            // SAFETY: `geteuid` has no preconditions.
            let me = unsafe { libc::geteuid() };
            if meta.uid() != me || meta.mode() & 0o022 != 0 {
                note("off: other users may write to its folder");
                return None;
            }
        }
        let key = key::compute(files);
        let entry = CacheEntry::new(self.clone(), key);
        tracing::debug!(
            target: log::CACHE,
            folder = %entry.folder().display(),
            "looks for the program",
        );
        Some(entry)
    }

    /// Creates a program's folder, accessible to this user alone.
    fn make(&self, folder: &Path) -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)
    }
}

/// Statistics of this process's caches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounts {
    /// Modules that were loaded instead of parsed.
    pub modules: u64,
    /// Objects that were loaded instead of compiled.
    pub objects: u64,
    /// Objects that were not found and had to be compiled.
    pub compiled: u64,
    /// Files that were written.
    pub stored: u64,
    /// Files that were damaged and removed.
    pub damaged: u64,
    /// True if this process has used LLVM; loading from the cache needs none.
    pub llvm: bool,
    /// Reason why nothing is cached, if so.
    pub note: Option<String>,
}

/// The use that a process makes of its caches; [`CacheCounts`] documents the counters.
struct Usage {
    modules: AtomicU64,
    objects: AtomicU64,
    compiled: AtomicU64,
    stored: AtomicU64,
    damaged: AtomicU64,
    note: Mutex<Option<String>>,
    /// Number of the next unfinished file: names are unique in the process.
    next_file: AtomicU64,
    unfinished: partial::UnfinishedFiles,
}

/// The use of this process, which ends once for all its programs: `--stats` then shows the sums,
/// and unfinished files are removed.
static USAGE: Usage = Usage {
    modules: AtomicU64::new(0),
    objects: AtomicU64::new(0),
    compiled: AtomicU64::new(0),
    stored: AtomicU64::new(0),
    damaged: AtomicU64::new(0),
    note: Mutex::new(None),
    next_file: AtomicU64::new(0),
    unfinished: partial::UnfinishedFiles::new(),
};

fn note(text: impl Into<String>) {
    let why = text.into();
    tracing::info!(target: log::CACHE, why, "does not store everything");
    *USAGE.note.lock() = Some(why);
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Counts an object that was not found and had to be compiled.
pub fn compiled() {
    count(&USAGE.compiled);
}

/// Returns the statistics so far.
pub fn counts() -> CacheCounts {
    let get = |c: &AtomicU64| c.load(Ordering::Relaxed);
    CacheCounts {
        modules: get(&USAGE.modules),
        objects: get(&USAGE.objects),
        compiled: get(&USAGE.compiled),
        stored: get(&USAGE.stored),
        damaged: get(&USAGE.damaged),
        llvm: ompvm_llvm::is_started(),
        note: USAGE.note.lock().clone(),
    }
}
