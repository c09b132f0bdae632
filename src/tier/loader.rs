//! Shared objects made in memory, and how the system's loader gets them.
//!
//! [`scope`] makes an object that holds nothing but the names of libraries: the libraries are
//! searched in this order, before those that the process itself was linked with, as if a program
//! had been linked with them.
//!
//! [`open_bytes`] loads the bytes of a shared object by way of an anonymous file. Layouts are those of the System V ABI ("Object Files", "Dynamic Linking").

use crate::support::file_limit::Quiet;
use object::elf;
use std::ffi::{CString, c_int, c_void};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering};

const PAGE: usize = 4096;
/// Bytes of the ELF header, and of one program header.
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;

/// A growing file.
#[derive(Debug, Default)]
struct Writer(Vec<u8>);

impl Writer {
    /// Fills up to a multiple of `to`; the offset of what comes next.
    pub fn align(&mut self, to: usize) -> usize {
        let len = self.0.len().next_multiple_of(to);
        self.0.resize(len, 0);
        len
    }

    /// Adds words of eight bytes.
    pub fn put(&mut self, values: &[u64]) {
        for v in values {
            self.0.extend(v.to_le_bytes());
        }
    }

    /// Adds words of four bytes.
    pub fn put32(&mut self, values: &[u32]) {
        for v in values {
            self.0.extend(v.to_le_bytes());
        }
    }
}

/// A program header of a segment whose addresses are its offsets in the file.
#[derive(Clone, Copy, Debug)]
struct Segment {
    pub kind: u32,
    pub at: usize,
    /// Bytes in the file.
    pub file: usize,
    /// Bytes in memory.
    pub memory: usize,
    pub align: usize,
}

/// Writes the ELF header and the program headers at the start of a file. Every segment is readable
/// and writable.
fn headers(out: &mut [u8], segments: &[Segment]) {
    let mut head = Writer::default();
    // Class 64, little-endian, version 1.
    head.0.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    head.put32(&[
        u32::from(elf::ET_DYN.0) | u32::from(elf::EM_X86_64.0) << 16,
        1,
    ]);
    head.put(&[0, HEADER as u64, 0]);
    // Flags; sizes of this header and of a program header; their number; no sections.
    let sizes = (HEADER | PROGRAM_HEADER << 16) as u32;
    head.put32(&[0, sizes, segments.len() as u32 | 64 << 16, 0]);
    for s in segments {
        head.put32(&[s.kind, elf::PF_R.0 | elf::PF_W.0]);
        let at = s.at as u64;
        head.put(&[at, at, at, s.file as u64, s.memory as u64, s.align as u64]);
    }
    out[..head.0.len()].copy_from_slice(&head.0);
}

/// Loads libraries, given by path or by the name that the loader searches for, so that their
/// references are bound to each other in this order and only then to the process; the handle.
///
/// # Errors
/// Why the system does not load them.
pub(super) fn scope(libraries: &[CString], flags: c_int) -> Result<*mut c_void, String> {
    let mut out = Writer(vec![0; HEADER + 3 * PROGRAM_HEADER]);
    let symbols_at = out.align(8);
    out.put(&[0, 0, 0]);
    let hash_at = out.align(8);
    // One bucket, which is empty; the one symbol is the null symbol.
    out.put32(&[1, 1, 0, 0]);
    let names_at = out.0.len();
    out.0.push(0);
    let mut dynamic = Vec::new();
    for name in libraries {
        dynamic.push((elf::DT_NEEDED.0, out.0.len() - names_at));
        out.0.extend(name.as_bytes_with_nul());
    }
    dynamic.extend([
        (elf::DT_HASH.0, hash_at),
        (elf::DT_STRTAB.0, names_at),
        (elf::DT_SYMTAB.0, symbols_at),
        (elf::DT_STRSZ.0, out.0.len() - names_at),
        (elf::DT_SYMENT.0, 24),
        (elf::DT_NULL.0, 0),
    ]);
    let dynamic_at = out.align(16);
    for (tag, value) in dynamic {
        out.put(&[tag as u64, value as u64]);
    }
    let len = out.0.len();
    let segment = |kind, at, len, align| Segment {
        kind,
        at,
        file: len,
        memory: len,
        align,
    };
    headers(
        &mut out.0,
        &[
            segment(elf::PT_LOAD.0, 0, len, PAGE),
            segment(elf::PT_DYNAMIC.0, dynamic_at, len - dynamic_at, 8),
            segment(elf::PT_GNU_STACK.0, 0, 0, 16),
        ],
    );
    open_bytes(&out.0, flags | libc::RTLD_DEEPBIND)
}

/// Gives bytes to the loader by way of an anonymous file in memory.
pub(super) fn open_bytes(bytes: &[u8], flags: c_int) -> Result<*mut c_void, String> {
    let system = || format!("no file in memory: {}", std::io::Error::last_os_error());
    // SAFETY: the descriptor is ours and closed here.
    unsafe {
        let fd = libc::memfd_create(c"archive".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(system());
        }
        let _quiet = Quiet::begin();
        let mut done = 0;
        while done < bytes.len() {
            let n = libc::write(fd, bytes[done..].as_ptr().cast(), bytes.len() - done);
            if n <= 0 {
                let cause = system();
                libc::close(fd);
                return Err(cause);
            }
            done += n as usize;
        }
        let handle = open_descriptor(fd, flags);
        libc::close(fd);
        handle
    }
}

fn open_descriptor(fd: RawFd, flags: c_int) -> Result<*mut c_void, String> {
    // The loader knows what is loaded by its path, and descriptors' numbers come again.
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let unique = "./".repeat(TURN.fetch_add(1, Ordering::Relaxed) % 1000);
    let path = CString::new(format!("/proc/self/fd/{unique}{fd}")).unwrap_or_default();
    // SAFETY: the path is a C string; running the initialisers of a library is what the user asks
    // for by naming it; the text of an error is read before the next call on this thread.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), flags);
        if !handle.is_null() {
            return Ok(handle);
        }
        let text = libc::dlerror();
        Err(if text.is_null() {
            "the system cannot load it".to_owned()
        } else {
            std::ffi::CStr::from_ptr(text)
                .to_string_lossy()
                .into_owned()
        })
    }
}
