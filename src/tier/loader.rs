//! Shared objects created in memory, and their way into the system's loader.
//!
//! [`open`] loads the bytes of a shared object through an anonymous file. [`open_file`] loads a
//! file as it is, so that its pages are shared and read on demand. [`scope`] creates an object that
//! holds nothing but the names of libraries: the libraries are searched in this order, before those
//! that the process itself was linked with, as if a program had been linked with them. [`define`]
//! creates one that holds nothing but symbols.
//!
//! Layouts are those of the System V ABI ("Object Files", "Dynamic Linking"). [`super::archive`]
//! creates the objects made of archive members.

use super::registry::REGISTRY;
use object::elf;
use ompvm_support::write_signal::NoWriteSignal;
use std::ffi::{CString, c_int, c_void};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

const PAGE: usize = 4096;
/// Size of the ELF header in bytes.
pub(super) const HEADER: usize = 64;
/// Size of a program header in bytes.
pub(super) const PROGRAM_HEADER: usize = 56;

/// Contents of a file under construction.
#[derive(Debug, Default)]
pub(super) struct Writer(pub Vec<u8>);

impl Writer {
    /// Pads to a multiple of `to`. Returns the offset of the end.
    pub fn align(&mut self, to: usize) -> usize {
        let len = self.0.len().next_multiple_of(to);
        self.0.resize(len, 0);
        len
    }

    /// Appends words of eight bytes.
    pub fn put(&mut self, values: &[u64]) {
        for v in values {
            self.0.extend(v.to_le_bytes());
        }
    }

    /// Appends words of four bytes.
    pub fn put32(&mut self, values: &[u32]) {
        for v in values {
            self.0.extend(v.to_le_bytes());
        }
    }
}

/// Overwrites words of eight bytes at an offset.
pub(super) fn write(out: &mut [u8], at: usize, values: &[u64]) {
    for (i, v) in values.iter().enumerate() {
        out[at + i * 8..at + i * 8 + 8].copy_from_slice(&v.to_le_bytes());
    }
}

/// Program header of a segment whose addresses equal its offsets in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub kind: u32,
    pub at: usize,
    /// Size in the file in bytes.
    pub file: usize,
    /// Size in memory in bytes.
    pub memory: usize,
    pub align: usize,
}

impl Segment {
    /// Creates a segment of `len` bytes in the file and in memory.
    pub fn new(kind: u32, at: usize, len: usize, align: usize) -> Segment {
        Segment {
            kind,
            at,
            file: len,
            memory: len,
            align,
        }
    }
}

/// Writes the ELF header and the program headers to the start of a file. Every segment is readable
/// and writable.
pub(super) fn headers(out: &mut [u8], segments: &[Segment]) {
    let mut head = Writer::default();
    // Class 64, little-endian, version 1.
    head.0.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    head.put32(&[
        u32::from(elf::ET_DYN.0) | u32::from(elf::EM_X86_64.0) << 16,
        1,
    ]);
    head.put(&[0, HEADER as u64, 0]);
    // Flags; sizes of this header and of a program header; number of program headers; no sections.
    let sizes = (HEADER | PROGRAM_HEADER << 16) as u32;
    head.put32(&[0, sizes, segments.len() as u32 | 64 << 16, 0]);
    for s in segments {
        head.put32(&[s.kind, elf::PF_R.0 | elf::PF_W.0]);
        let at = s.at as u64;
        head.put(&[at, at, at, s.file as u64, s.memory as u64, s.align as u64]);
    }
    out[..head.0.len()].copy_from_slice(&head.0);
}

/// A loaded object.
#[derive(Debug)]
pub(super) struct Loaded {
    /// Address of its first byte.
    pub base: usize,
    handle: usize,
    /// True to leave the object loaded when this is dropped, because exit handlers run later.
    pub stays: bool,
    /// The file that the loader has mapped; `None` if it was loaded from a copy.
    file: Option<FileId>,
}

/// Device and inode numbers.
pub(super) type FileId = (u64, u64);

/// Returns the files that are loaded, locked.
fn loaded_files() -> MutexGuard<'static, Vec<FileId>> {
    let files = &REGISTRY.native_files;
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.stays {
            return;
        }
        // SAFETY: the handle is from dlopen and closed once. The owner of this value also owns
        // everything that runs the object's code.
        unsafe { libc::dlclose(self.handle as *mut c_void) };
        if let Some(file) = self.file {
            let mut files = loaded_files();
            files.retain(|f| *f != file);
        }
    }
}

impl Loaded {
    /// Returns this thread's address of a thread-local variable of the object.
    pub fn thread_local(&self, name: &str) -> Option<usize> {
        let name = CString::new(name).ok()?;
        // SAFETY: the handle is open and the name is a C string.
        let p = unsafe { libc::dlsym(self.handle as *mut c_void, name.as_ptr()) } as usize;
        (p != 0).then_some(p)
    }
}

/// Loads an object that has no initializers.
///
/// # Errors
/// Returns the loader's message.
pub(super) fn open(file: &[u8]) -> Result<Loaded, String> {
    let handle = open_bytes(file, libc::RTLD_NOW | libc::RTLD_GLOBAL)?;
    loaded(handle, None)
}

/// Loads an object from a file that nobody modifies.
///
/// # Errors
/// Returns the loader's message.
pub(super) fn open_file(mut file: &File) -> Result<Loaded, String> {
    let text = |e: std::io::Error| e.to_string();
    let meta = file.metadata().map_err(text)?;
    let id = (meta.dev(), meta.ino());
    let executable = may_execute(file);
    let first = executable && {
        let mut files = loaded_files();
        let first = !files.contains(&id);
        if first {
            files.push(id);
        }
        first
    };
    if first {
        let handle = open_descriptor(file.as_raw_fd(), libc::RTLD_NOW | libc::RTLD_GLOBAL)?;
        return loaded(handle, Some(id));
    }
    let mut bytes = Vec::new();
    file.rewind().map_err(text)?;
    file.read_to_end(&mut bytes).map_err(text)?;
    open(&bytes)
}

/// Returns true if code may be executed from the file system of a file. Otherwise it runs only from
/// a copy in memory.
fn may_execute(file: &File) -> bool {
    // SAFETY: the descriptor is open. All-zero is a valid value of the structure, which the call
    // fills in.
    unsafe {
        let mut system: libc::statvfs = std::mem::zeroed();
        libc::fstatvfs(file.as_raw_fd(), &raw mut system) == 0
            && system.f_flag & libc::ST_NOEXEC == 0
    }
}

fn loaded(handle: *mut c_void, file: Option<FileId>) -> Result<Loaded, String> {
    let mut map: *mut LinkMap = std::ptr::null_mut();
    // SAFETY: the handle is open, and the loader's structure lives as long as the handle.
    unsafe {
        if libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) != 0 {
            return Err("the loader does not report its address".into());
        }
        Ok(Loaded {
            base: (*map).base,
            handle: handle as usize,
            stays: false,
            file,
        })
    }
}

/// The start of the loader's `struct link_map` (`link.h`).
#[repr(C)]
struct LinkMap {
    base: usize,
}

/// Loads libraries, given by path or by the name that the loader searches for. Their references are
/// bound to each other in this order and only then to the process. Returns the handle.
///
/// # Errors
/// Returns the loader's message.
pub(super) fn scope(libraries: &[CString], flags: c_int) -> Result<*mut c_void, String> {
    open_bytes(&description(libraries, &[]), flags | libc::RTLD_DEEPBIND)
}

/// A symbol at an address of this process.
#[derive(Debug)]
pub(super) struct Definition {
    pub name: CString,
    pub address: usize,
    /// Size in bytes; 0 if it is not known.
    pub size: usize,
    pub function: bool,
}

/// Adds symbols to those that libraries find, behind the symbols of all libraries of the program.
/// They stay until the process ends. Needs version 2.28 of the GNU C library, which leaves absolute
/// symbols at their address.
///
/// # Errors
/// Returns the loader's message.
pub(super) fn define(symbols: &[Definition]) -> Result<(), String> {
    let flags = libc::RTLD_NOW | libc::RTLD_GLOBAL;
    open_bytes(&description(&[], symbols), flags).map(|_| ())
}

/// Returns an object that holds nothing but the names of libraries and symbols.
fn description(libraries: &[CString], symbols: &[Definition]) -> Vec<u8> {
    let mut out = Writer(vec![0; HEADER + 3 * PROGRAM_HEADER]);
    let mut names = vec![0];
    let mut name_at = |name: &CString| {
        let at = names.len();
        names.extend(name.as_bytes_with_nul());
        at
    };
    let symbols_at = out.align(8);
    out.put(&[0, 0, 0]);
    for symbol in symbols {
        let kind = if symbol.function {
            elf::STT_FUNC
        } else {
            elf::STT_OBJECT
        };
        let info = u32::from(elf::STB_GLOBAL.0) << 4 | u32::from(kind.0);
        out.put32(&[
            name_at(&symbol.name) as u32,
            info | u32::from(elf::SHN_ABS.0) << 16,
        ]);
        out.put(&[symbol.address as u64, symbol.size as u64]);
    }
    let hash_at = out.align(8);
    out.put32(&hash_table(symbols));
    let mut dynamic = Vec::new();
    for name in libraries {
        dynamic.push((elf::DT_NEEDED.0, name_at(name)));
    }
    let names_at = out.0.len();
    out.0.extend(&names);
    dynamic.extend([
        (elf::DT_HASH.0, hash_at),
        (elf::DT_STRTAB.0, names_at),
        (elf::DT_SYMTAB.0, symbols_at),
        (elf::DT_STRSZ.0, names.len()),
        (elf::DT_SYMENT.0, 24),
        (elf::DT_NULL.0, 0),
    ]);
    let dynamic_at = out.align(16);
    for (tag, value) in dynamic {
        out.put(&[tag as u64, value as u64]);
    }
    let len = out.0.len();
    let segment = Segment::new;
    headers(
        &mut out.0,
        &[
            segment(elf::PT_LOAD.0, 0, len, PAGE),
            segment(elf::PT_DYNAMIC.0, dynamic_at, len - dynamic_at, 8),
            segment(elf::PT_GNU_STACK.0, 0, 0, 16),
        ],
    );
    out.0
}

/// Returns the hash table of a symbol table that begins with the null symbol (System V ABI, "Hash
/// Table").
fn hash_table(symbols: &[Definition]) -> Vec<u32> {
    let buckets = symbols.len().max(1);
    let count = symbols.len() + 1;
    let mut table = vec![0; 2 + buckets + count];
    (table[0], table[1]) = (buckets as u32, count as u32);
    for (number, symbol) in (1u32..).zip(symbols) {
        let hash = elf::hash(symbol.name.as_bytes());
        let bucket = 2 + hash as usize % buckets;
        table[2 + buckets + number as usize] = table[bucket];
        table[bucket] = number;
    }
    table
}

/// Passes bytes to the loader through an anonymous file in memory.
fn open_bytes(bytes: &[u8], flags: c_int) -> Result<*mut c_void, String> {
    let system = || {
        format!(
            "cannot create a file in memory: {}",
            std::io::Error::last_os_error()
        )
    };
    // SAFETY: the descriptor is created and closed here, and the buffer passed to `write` is live.
    unsafe {
        let fd = libc::memfd_create(c"archive".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(system());
        }
        let _no_signal = NoWriteSignal::begin();
        let mut done = 0;
        while done < bytes.len() {
            let n = libc::write(fd, bytes[done..].as_ptr().cast(), bytes.len() - done);
            if n <= 0 {
                let too_large = *libc::__errno_location() == libc::EFBIG;
                let cause = system();
                libc::close(fd);
                return Err(if too_large {
                    let len = bytes.len();
                    format!(
                        "the limit of a file's size (ulimit -f) is below the {len} bytes it needs"
                    )
                } else {
                    cause
                });
            }
            done += n as usize;
        }
        let handle = open_descriptor(fd, flags);
        libc::close(fd);
        handle
    }
}

fn open_descriptor(fd: RawFd, flags: c_int) -> Result<*mut c_void, String> {
    // The loader identifies loaded objects by path, and descriptor numbers are reused, so each path
    // is unique.
    let number = REGISTRY.opened_files.fetch_add(1, Ordering::Relaxed);
    let unique = "./".repeat(number % 1000);
    let path = CString::new(format!("/proc/self/fd/{unique}{fd}")).unwrap_or_default();
    // SAFETY: the path is a C string. The user asks for a library's initializers by naming it. The
    // error text is read before the next loader call on this thread.
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
