//! Writes `jit-PID.dump` in the current folder, from which `perf inject --jit` creates an ELF file
//! per function (Linux, tools/perf/Documentation/jitdump-specification.txt, version 1).
//!
//! perf finds the file because it is mapped executable, and orders its records among the samples by
//! time: record with `perf record -k mono`.
//!
//! Unwind tables are not recorded; call chains of samples come from frame pointers or the hardware.

use super::{Agent, AgentState, Loaded, NamedFunction};
use ompvm_support::write_signal::NoWriteSignal;
use parking_lot::Mutex;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::ptr;

const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
const HEADER: u32 = 40;
const X86_64: u32 = 62;
const CODE_LOAD: u32 = 0;
const DEBUG_INFO: u32 = 2;

/// Path of the file and number of the next function. Each write opens the file, because compile
/// threads do not share descriptors.
pub struct JitDump {
    out: Mutex<(PathBuf, u64)>,
}

/// Returns the clock of `perf record -k mono` in nanoseconds.
fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call fills the local structure.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns a record: kind, size, time and contents.
fn record(kind: u32, contents: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(16 + contents.len());
    out.extend(kind.to_le_bytes());
    out.extend((16 + contents.len() as u32).to_le_bytes());
    out.extend(now().to_le_bytes());
    out.extend(contents);
    out
}

impl JitDump {
    /// Creates the file and the mapping by which perf finds it.
    pub fn new() -> io::Result<JitDump> {
        let pid = std::process::id();
        // The guest may change the current folder later.
        let path = std::env::current_dir()?.join(format!("jit-{pid}.dump"));
        let mut options = File::options();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)?;
        let words = [MAGIC, VERSION, HEADER, X86_64, 0, pid];
        let mut head: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        head.extend(now().to_le_bytes());
        head.extend(0u64.to_le_bytes());
        file.write_all(&head)?;
        // SAFETY: creates a new mapping, which nothing accesses and which stays until the process
        // ends.
        let marker = unsafe {
            let access = libc::PROT_READ | libc::PROT_EXEC;
            libc::mmap(
                ptr::null_mut(),
                4096,
                access,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        if marker == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(JitDump {
            out: Mutex::new((path, 0)),
        })
    }
}

/// Returns the line records of a function: address, line, column and file of each row.
fn lines(what: &Loaded<'_>, function: &NamedFunction<'_>) -> Option<Vec<u8>> {
    let (mut entries, mut count) = (Vec::new(), 0u64);
    for (offset, place) in what.lines.rows(function.number)? {
        let Some(place) = place else { continue };
        entries.extend((function.address as u64 + u64::from(offset)).to_le_bytes());
        entries.extend(place.line.to_le_bytes());
        entries.extend(place.column.to_le_bytes());
        entries.extend(place.file.as_bytes());
        entries.push(0);
        count += 1;
    }
    let mut out = (function.address as u64).to_le_bytes().to_vec();
    out.extend(count.to_le_bytes());
    out.extend(entries);
    (count > 0).then_some(out)
}

impl Agent for JitDump {
    fn loaded(&self, what: &Loaded<'_>) -> io::Result<Option<AgentState>> {
        let (path, next) = &mut *self.out.lock();
        let mut text = Vec::new();
        for function in what.functions {
            // The format wants the lines of a function before its code.
            if let Some(lines) = lines(what, function) {
                text.extend(record(DEBUG_INFO, &lines));
            }
            let (address, size) = (function.address as u64, function.size as u64);
            // SAFETY: `gettid` has no preconditions.
            let thread = unsafe { libc::gettid() } as u32;
            let mut load = std::process::id().to_le_bytes().to_vec();
            load.extend(thread.to_le_bytes());
            for word in [address, address, size, *next] {
                load.extend(word.to_le_bytes());
            }
            load.extend(function.name.as_bytes());
            load.push(0);
            // SAFETY: the function's code is mapped and readable.
            load.extend(unsafe {
                std::slice::from_raw_parts(function.address as *const u8, function.size)
            });
            text.extend(record(CODE_LOAD, &load));
            *next += 1;
        }
        let _no_signal = NoWriteSignal::begin();
        File::options().append(true).open(path)?.write_all(&text)?;
        Ok(None)
    }
}
