//! A program's entry in the cache: its folder and the files in it.
//!
//! A file that is missing or damaged is `None` to the caller, who makes its contents again; a file
//! that cannot be written becomes a note. Other layers store bytes of their own under names of
//! their own ([`CacheEntry::put_bytes`]): profiles, kernels, archive members.

use super::key::Key;
use super::{Cache, USAGE, count, evict, file, note, partial};
use ompvm_ir::serialized;
use ompvm_ir::{GlobalRef, Module};
use ompvm_llvm::native::{CompileRequest, Level, Object};
use ompvm_support::log;
use serde_bytes::{ByteBuf, Bytes};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// Name of the module's file.
const MODULE: &str = "module";
/// Prefixes of objects' names by level, in the order in which objects are loaded.
const OBJECT: [(&str, Level); 2] = [("early-", Level::Quick), ("unit-", Level::Full)];
/// Prefix of the names of files that are still being written.
pub(super) const UNFINISHED: char = '.';

/// A program's folder in a cache.
#[derive(Clone, Debug)]
pub struct CacheEntry {
    cache: Cache,
    folder: PathBuf,
    key: Key,
}

/// An object in its stored form: the request that it was compiled for, and the object itself.
#[derive(serde::Serialize, serde::Deserialize)]
struct StoredObject<Names, Code> {
    request_hash: [u8; 32],
    functions: Names,
    skipped: Names,
    degraded: Names,
    bytes: Code,
    lines: Code,
}

impl CacheEntry {
    pub(super) fn new(cache: Cache, key: Key) -> CacheEntry {
        let name: String = key.iter().map(|b| format!("{b:02x}")).collect();
        CacheEntry {
            folder: cache.root.join(name),
            cache,
            key,
        }
    }

    /// Returns the entry's folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Loads the program's module, without its name and files, if it is cached.
    pub fn module(&self) -> Option<Module> {
        let module = serialized::load(self.get(MODULE)?);
        match module {
            Some(_) => count(&USAGE.modules),
            None => self.drop_damaged(&self.folder.join(MODULE)),
        }
        self.mark_used();
        module
    }

    /// Stores the module of a program that linked without errors and uses these symbols.
    pub fn put_module(&self, module: &Module, uses: Box<[GlobalRef]>) {
        match serialized::save(module, uses) {
            Ok(bytes) => self.put(MODULE, &bytes),
            Err(why) => note(format!("the module cannot be stored: {why}")),
        }
    }

    /// Loads every object that fits the request, with its line table. Objects of the full level
    /// come last; those of the quick level are loaded only if asked for.
    pub fn objects(&self, request: &CompileRequest, early: bool) -> Vec<(Object, Vec<u8>)> {
        let Ok(list) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut names: Vec<String> = list
            .filter_map(|e| e.ok()?.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        let request_hash = request_hash(request);
        let wanted = OBJECT.iter().filter(|o| early || o.1 == Level::Full);
        let named = wanted.flat_map(|&(prefix, level)| {
            let names = names.iter().filter(move |n| n.starts_with(prefix));
            names.map(move |n| (n, level))
        });
        named
            .filter_map(|(n, level)| self.object(n, level, request_hash))
            .collect()
    }

    fn object(
        &self,
        name: &str,
        level: Level,
        request_hash: [u8; 32],
    ) -> Option<(Object, Vec<u8>)> {
        let bytes = self.get(name)?;
        let Ok(stored) = postcard::from_bytes::<StoredObject<Vec<(u32, String)>, ByteBuf>>(&bytes)
        else {
            self.drop_damaged(&self.folder.join(name));
            return None;
        };
        if stored.request_hash != request_hash {
            tracing::debug!(
                target: log::CACHE,
                file = name,
                "the object is for other symbols' locations"
            );
            return None;
        }
        count(&USAGE.objects);
        let names = |list: Vec<(u32, String)>| -> Vec<(usize, String)> {
            list.into_iter().map(|(n, s)| (n as usize, s)).collect()
        };
        let object = Object {
            level,
            bytes: stored.bytes.into_vec(),
            functions: names(stored.functions),
            entries: Vec::new(),
            skipped: names(stored.skipped),
            degraded: names(stored.degraded),
            transient: false,
            times: [Duration::ZERO; 3],
        };
        Some((object, stored.lines.into_vec()))
    }

    /// Stores an object with its line table, which takes longer to make than to read. An object
    /// that only records what cannot be compiled is stored, too, unless that may change. Returns
    /// the file's name, for [`CacheEntry::forget`].
    pub fn put_object(
        &self,
        request: &CompileRequest,
        object: &Object,
        lines: &[u8],
    ) -> Option<String> {
        if object.transient {
            return None;
        }
        fn names(list: &[(usize, String)]) -> Vec<(u32, &str)> {
            list.iter().map(|(n, s)| (*n as u32, &**s)).collect()
        }
        let stored = StoredObject {
            request_hash: request_hash(request),
            functions: names(&object.functions),
            skipped: names(&object.skipped),
            degraded: names(&object.degraded),
            bytes: Bytes::new(&object.bytes),
            lines: Bytes::new(lines),
        };
        let mut name = blake3::Hasher::new();
        name.update(&stored.request_hash);
        name.update(format!("{:?} {:?}", stored.functions, stored.skipped).as_bytes());
        let (prefix, _) = OBJECT[object.level as usize];
        let name = format!("{prefix}{}", name.finalize().to_hex());
        match postcard::to_allocvec(&stored) {
            Ok(bytes) => {
                self.put(&name, &bytes);
                Some(name)
            }
            Err(why) => {
                note(format!("an object cannot be stored: {why}"));
                None
            }
        }
    }

    /// Removes a file that turned out to be useless.
    pub fn forget(&self, name: &str) {
        tracing::debug!(target: log::CACHE, file = name, "removes an object that cannot be used");
        // If it cannot be removed, a later run may end with a message; no result is wrong.
        let _ = fs::remove_file(self.folder.join(name));
    }

    /// Loads the object of a rare instruction's thunk by the text that it was compiled from.
    pub fn thunk(&self, text: &str) -> Option<Vec<u8>> {
        self.get(&thunk_name(text))
    }

    /// Stores the object that [`CacheEntry::thunk`] loads.
    pub fn put_thunk(&self, text: &str, object: &[u8]) {
        self.put(&thunk_name(text), object);
    }

    /// Loads the bytes stored under a name that is neither an object's nor the module's.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = self.get(name);
        self.mark_used();
        bytes
    }

    /// Stores other data of the program, a few kilobytes, replacing what was there.
    pub fn put_bytes(&self, name: &str, bytes: &[u8]) {
        let first = !self.folder.join(name).exists();
        if self.write(name, bytes) && first {
            self.evict();
        }
    }

    /// Stores a file without head and checksum, for readers that open it themselves and verify it.
    pub fn put_file(&self, name: &str, bytes: &[u8]) {
        if self.write_file(name, bytes) {
            self.evict();
        }
    }

    /// Opens a file stored by [`CacheEntry::put_file`].
    pub fn open_file(&self, name: &str) -> Option<fs::File> {
        fs::File::open(self.folder.join(name)).ok()
    }

    fn get(&self, name: &str) -> Option<Vec<u8>> {
        let path = self.folder.join(name);
        let Ok(contents) = fs::read(&path) else {
            tracing::debug!(target: log::CACHE, file = name, "miss");
            return None;
        };
        let size = contents.len();
        let bytes = file::unpack(&self.key, name, contents);
        match bytes {
            Some(_) => tracing::debug!(target: log::CACHE, file = name, bytes = size, "hit"),
            None => self.drop_damaged(&path),
        }
        bytes
    }

    fn drop_damaged(&self, path: &Path) {
        count(&USAGE.damaged);
        tracing::info!(target: log::CACHE, file = %path.display(), "removes a damaged file");
        // If it cannot be removed, it is found damaged again.
        let _ = fs::remove_file(path);
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        if self.write(name, bytes) {
            self.evict();
        }
    }

    fn evict(&self) {
        evict::keep_below(&self.cache.root, self.cache.limit, &self.folder);
    }

    /// Writes a file with head and checksum. Returns true if it was written.
    fn write(&self, name: &str, bytes: &[u8]) -> bool {
        self.write_file(name, &file::pack(&self.key, name, bytes))
    }

    fn write_file(&self, name: &str, file: &[u8]) -> bool {
        let number = USAGE.next_file.fetch_add(1, Ordering::Relaxed);
        let me = std::process::id();
        let path = self.folder.join(format!("{UNFINISHED}{me}-{number}"));
        let done = self
            .cache
            .make(&self.folder)
            .and_then(|()| partial::write(&path, &self.folder.join(name), file));
        match done {
            Ok(true) => {
                count(&USAGE.stored);
                tracing::debug!(target: log::CACHE, file = name, bytes = file.len(), "stored");
                true
            }
            // The process has ended in the meantime.
            Ok(false) => false,
            Err(why) => {
                let _ = fs::remove_file(&path);
                note(format!(
                    "{} cannot be written: {why}",
                    self.folder.display()
                ));
                false
            }
        }
    }

    /// Marks the program as used now, at most once a minute: each change of the folder is written
    /// to disk.
    fn mark_used(&self) {
        const OFTEN: Duration = Duration::from_secs(60);
        let now = SystemTime::now();
        let fresh = fs::metadata(&self.folder)
            .and_then(|m| m.modified())
            .is_ok_and(|t| now.duration_since(t).is_ok_and(|d| d < OFTEN));
        if !fresh && let Ok(folder) = fs::File::open(&self.folder) {
            // A folder that cannot be marked is evicted earlier, nothing more.
            let _ = folder.set_modified(now);
        }
    }
}

/// Returns the name of a thunk's file.
fn thunk_name(text: &str) -> String {
    format!("thunk-{}", blake3::hash(text.as_bytes()).to_hex())
}

/// Hashes the part of a request that a program's key does not cover: the location of each symbol.
fn request_hash(request: &CompileRequest) -> [u8; 32] {
    let text = format!(
        "{:?} {:?} {:?} {} {:?}",
        request.functions, request.variables, request.labels, request.thread_cell, request.debug
    );
    *blake3::hash(text.as_bytes()).as_bytes()
}
