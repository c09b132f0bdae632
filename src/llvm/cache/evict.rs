//! Enumeration of the programs in the cache's folder, and eviction by last use.
//!
//! Eviction goes by last use so that a program that runs every day stays. The contents of files are
//! `file`'s business.

use super::entry::UNFINISHED;
use ompvm_support::log;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Age at which an unfinished file counts as abandoned.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A program's folder.
pub(super) struct Program {
    folder: PathBuf,
    used: SystemTime,
    pub files: usize,
    pub bytes: u64,
}

impl Program {
    /// Removes the program. Files that another process writes in the meantime stay.
    pub(super) fn remove(&self) -> bool {
        for file in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let _ = fs::remove_file(file.path());
        }
        fs::remove_dir(&self.folder).is_ok()
    }
}

/// Lists the programs below a cache's root and ignores other files.
pub(super) fn programs(root: &Path) -> Vec<Program> {
    let mut programs = Vec::new();
    for folder in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = folder.file_name();
        let name = name.to_string_lossy();
        if name.len() != 64 || !name.bytes().all(|b| b.is_ascii_hexdigit()) {
            continue;
        }
        let Ok(used) = folder.metadata().and_then(|m| m.modified()) else {
            continue;
        };
        let mut program = Program {
            folder: folder.path(),
            used,
            files: 0,
            bytes: 0,
        };
        for file in fs::read_dir(&program.folder)
            .into_iter()
            .flatten()
            .flatten()
        {
            let Ok(meta) = file.metadata() else { continue };
            if file.file_name().to_string_lossy().starts_with(UNFINISHED) {
                let age = meta.modified().ok().and_then(|t| t.elapsed().ok());
                if age.is_some_and(|a| a > ABANDONED) {
                    let _ = fs::remove_file(file.path());
                }
                continue;
            }
            program.files += 1;
            program.bytes += meta.len();
        }
        programs.push(program);
    }
    programs
}

/// Removes the least recently used programs until the rest is below the limit; `current` goes last.
pub(super) fn keep_below(root: &Path, limit: u64, current: &Path) {
    let mut programs = programs(root);
    let mut bytes: u64 = programs.iter().map(|p| p.bytes).sum();
    if bytes <= limit {
        return;
    }
    programs.sort_by_key(|p| (p.folder == current, p.used));
    for program in &programs {
        if bytes <= limit {
            break;
        }
        program.remove();
        tracing::info!(
            target: log::CACHE,
            folder = %program.folder.display(),
            bytes = program.bytes,
            limit,
            "evicts a program"
        );
        bytes -= program.bytes;
    }
}
