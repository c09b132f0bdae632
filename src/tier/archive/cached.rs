//! Stores the shared object of a program's archive members in the program's cache entry.
//!
//! A later start reads no archive, and merges and copies nothing: the loader maps the file. The
//! choice of members depends on the program, which the cache's key identifies, on everything in
//! `key` ([`find`]), and on the archives. Archives may be large (flang's runtime has 29 MB), so
//! they are identified by path, size, time and inode, as in build systems, and not by their
//! contents.

use super::Archive;
use super::shared::Object;
use super::table::Table;
use ompvm_cache::CacheEntry;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the entry with the table and its inputs.
const TABLE: &str = "members";
/// Name of the entry with the object itself.
const OBJECT: &str = "members.so";

/// A cached object of an earlier run.
#[derive(Debug)]
pub struct CachedObject {
    pub(super) file: File,
    pub(super) table: Table,
}

/// The entry stored beside the object.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: [u8; 32],
    archives: Vec<Identity>,
    /// Checksum of the object.
    sum: [u8; 32],
    table: Table,
}

/// Identity of an archive at the time when its members were taken.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    path: PathBuf,
    size: u64,
    modified: (i64, i64),
    inode: (u64, u64),
}

impl Identity {
    fn of_file(path: &Path) -> Option<Identity> {
        let meta = std::fs::metadata(path).ok()?;
        Some(Identity {
            path: std::path::absolute(path).ok()?,
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            inode: (meta.dev(), meta.ino()),
        })
    }

    fn is_current(&self) -> bool {
        Identity::of_file(&self.path).is_some_and(|now| now == *self)
    }
}

/// Returns the cached object for the same `key`, if the archives are unchanged.
pub fn find(cache_entry: &CacheEntry, key: &[u8; 32]) -> Option<CachedObject> {
    let entry: Entry = postcard::from_bytes(&cache_entry.bytes(TABLE)?).ok()?;
    if entry.key != *key || !entry.archives.iter().all(Identity::is_current) {
        return None;
    }
    // The file that is checked is the file that is loaded, even if another one replaces its name.
    let mut file = cache_entry.open_file(OBJECT)?;
    (checksum(&mut file)? == entry.sum).then_some(CachedObject {
        file,
        table: entry.table,
    })
}

fn checksum(file: &mut File) -> Option<[u8; 32]> {
    let mut hash = blake3::Hasher::new();
    // Large enough for the hash to use vector instructions.
    let mut buffer = vec![0; 128 << 10];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(*hash.finalize().as_bytes()),
            n => hash.update(&buffer[..n]),
        };
    }
}

/// Stores an object made of members of these archives.
pub(super) fn put(
    cache_entry: &CacheEntry,
    key: &[u8; 32],
    archives: &[Arc<Archive>],
    object: &mut Object,
) {
    let identities: Option<Vec<_>> = archives
        .iter()
        .map(|a| Identity::of_file(&a.path))
        .collect();
    let Some(archives) = identities else {
        return;
    };
    let mut entry = Entry {
        key: *key,
        archives,
        sum: *blake3::hash(&object.file).as_bytes(),
        table: std::mem::take(&mut object.table),
    };
    // A path that is not UTF-8 cannot be stored; then nothing is.
    if let Ok(bytes) = postcard::to_allocvec(&entry) {
        cache_entry.put_file(OBJECT, &object.file);
        cache_entry.put_bytes(TABLE, &bytes);
    }
    object.table = std::mem::take(&mut entry.table);
}
