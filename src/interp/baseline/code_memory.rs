//! The code area of the baseline tier, and the bytecode instruction of each native position.
//!
//! One range of address space is reserved, and code is appended to it. The range is mapped twice
//! from one anonymous file: readable and executable where the code runs, readable and writable
//! where it is written. No page is ever both, no protection changes while other threads run code on
//! the same page, and thousands of functions need only two mappings. The file is closed once it is
//! mapped, so the program neither sees its descriptor nor closes it by closing all. One frame
//! description covers the range: baseline code never moves the stack pointer, so the caller's frame
//! is always directly above it, as at the entry of a handler.
//!
//! A child process shares the file with its parent. Before it appends anything, it maps a file of
//! its own at the same addresses, with the same contents up to the fork. Each mapping is replaced by
//! one system call, so other threads may run code there meanwhile. A child knows itself by its
//! number: those of `clone`, `_Fork` and the system calls run no handlers of `fork`. The fork itself
//! waits until no thread is appending ([`fork`]).
//!
//! Nothing is freed, and neither is the bytecode that leads to the code.

use super::BASELINE;
use crate::fork;
use ompvm_memory::walk;
use ompvm_support::{fork_lock, limits};
use std::ffi::c_void;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Bytes reserved if the address space is unlimited.
const AREA_BYTES: usize = 256 << 20;
/// The smallest useful area, in bytes.
const MIN_AREA_BYTES: usize = 64 << 10;

/// Returns the bytes of the range.
fn reserved() -> usize {
    limits::reserve(AREA_BYTES, 32, 1 << 20)
}

struct Area {
    run: usize,
    write: usize,
    used: Mutex<AreaUse>,
}

/// The used part of the area.
pub struct AreaUse {
    /// Bytes of code.
    bytes: usize,
    /// Bytes of the area that its file backs.
    backed: usize,
    /// The process that the file belongs to.
    owner: libc::pid_t,
}

/// Returns the number of the calling process.
fn own_process() -> libc::pid_t {
    // SAFETY: `getpid` has no preconditions.
    unsafe { libc::getpid() }
}

/// The code of the baseline tier.
pub(super) struct CodeMemory {
    /// Start of the area's executable mapping; 0 before the reservation.
    start: AtomicUsize,
    /// The list of all positions, newest first.
    positions: AtomicPtr<Positions>,
    area: OnceLock<Result<Area, String>>,
}

impl CodeMemory {
    /// Returns the state before the reservation.
    pub(super) const fn new() -> CodeMemory {
        CodeMemory {
            start: AtomicUsize::new(0),
            positions: AtomicPtr::new(ptr::null_mut()),
            area: OnceLock::new(),
        }
    }
}

/// Returns the code of this process.
fn code() -> &'static CodeMemory {
    &BASELINE.code
}

/// Formats why there is no executable memory.
fn failed(what: &str) -> String {
    format!("{what}: {}", std::io::Error::last_os_error())
}

fn area() -> Result<&'static Area, String> {
    let area = code().area.get_or_init(create_area);
    area.as_ref().map_err(Clone::clone)
}

/// Returns the mutex of the area, if there is one, for the fork handlers that hold it.
pub fn used() -> Option<&'static Mutex<AreaUse>> {
    Some(&code().area.get()?.as_ref().ok()?.used)
}

/// Creates a file in memory, as large as the area or as files may be; returns it with its size.
/// Untouched pages cost nothing.
fn file() -> Result<(OwnedFd, usize), String> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for the write. (Growing the file beyond the limit would raise a
    // signal that ends the process.)
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0;
    let most = usize::try_from(limit.rlim_cur).unwrap_or(AREA_BYTES);
    let size = if known {
        reserved().min(most)
    } else {
        reserved()
    };
    if size < MIN_AREA_BYTES {
        return Err(format!(
            "the file size limit of {size} bytes (ulimit -f) leaves no room for code"
        ));
    }
    // SAFETY: the name is a valid C string; creates a file that only this process knows.
    let file = unsafe { libc::memfd_create(c"ompvm baseline".as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return Err(failed("memfd_create"));
    }
    // SAFETY: the descriptor is fresh and owned by nobody else.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    // SAFETY: `file` is an open descriptor.
    if unsafe { libc::ftruncate(file.as_raw_fd(), size as i64) } != 0 {
        return Err(failed("ftruncate"));
    }
    Ok((file, size))
}

/// Maps the file, anywhere or in the place of another mapping of the area.
///
/// # Safety
/// `place` is null or the start of a whole mapping of the area, with the same contents.
unsafe fn map(file: &OwnedFd, prot: i32, place: *mut c_void) -> Result<usize, String> {
    let fixed = if place.is_null() { 0 } else { libc::MAP_FIXED };
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | fixed;
    // SAFETY: maps free address space, or replaces a whole mapping of the area (the caller's
    // contract).
    let at = unsafe { libc::mmap(place, reserved(), prot, flags, file.as_raw_fd(), 0) };
    if at == libc::MAP_FAILED {
        return Err(failed("mmap"));
    }
    Ok(at as usize)
}

const WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;
const EXECUTE: i32 = libc::PROT_READ | libc::PROT_EXEC;

fn create_area() -> Result<Area, String> {
    let (file, backed) = file()?;
    // SAFETY: `place` is null, so both are fresh mappings; after a failure they stay unused.
    let (run, write) = unsafe {
        (
            map(&file, EXECUTE, ptr::null_mut())?,
            map(&file, WRITE, ptr::null_mut())?,
        )
    };
    fork::install();
    ompvm_interp::set_bytecode_hook(bytecode_at);
    ompvm_interp::set_machine_code(run);
    // SAFETY: only code of the templates runs in the range, and templates do not move the stack
    // pointer.
    unsafe { describe_frames(run, reserved()) };
    code().start.store(run, Ordering::Release);
    Ok(Area {
        run,
        write,
        used: Mutex::new(AreaUse {
            bytes: 0,
            backed,
            owner: own_process(),
        }),
    })
}

/// Gives a child process a file of its own, with the contents that its parent had appended by then.
fn separate_from_parent(area: &Area, used: &mut AreaUse) -> Result<(), String> {
    let (file, backed) = file()?;
    if backed < used.bytes {
        return Err(format!(
            "the file size limit of {backed} bytes (ulimit -f) leaves no room for code"
        ));
    }
    // SAFETY: the first `used.bytes` bytes are mapped and never change.
    let code = unsafe { std::slice::from_raw_parts(area.run as *const u8, used.bytes) };
    let mut copy = File::from(file);
    copy.write_all(code).map_err(|e| e.to_string())?;
    let file = OwnedFd::from(copy);
    // SAFETY: the area's mappings are replaced whole, by the same contents. If the second call
    // fails, the area stays the parent's, so nothing is ever written through the first.
    unsafe {
        map(&file, EXECUTE, area.run as *mut c_void)?;
        map(&file, WRITE, area.write as *mut c_void)?;
    }
    (used.backed, used.owner) = (backed, own_process());
    Ok(())
}

/// Registers with the unwinder that everywhere in the range the caller's frame is at the stack
/// pointer plus eight (DWARF 5, section 6.4.1; `.eh_frame` in the Linux Standard Base).
///
/// # Safety
/// Code in the range keeps the stack pointer where the call left it.
unsafe fn describe_frames(start: usize, bytes: usize) {
    let mut table: Vec<u8> = Vec::new();
    let cie: [u8; 20] = [
        0, 0, 0, 0, // CIE
        1, // version
        0, // augmentation: none
        1, 0x78, // code alignment 1, data alignment -8
        16,   // return address: rip
        0x0c, 7, 8, // CFA is rsp + 8
        0x90, 1, // rip is at CFA - 8
        0, 0, 0, 0, 0, 0, // padding
    ];
    table.extend((cie.len() as u32).to_le_bytes());
    table.extend(cie);
    table.extend(24u32.to_le_bytes());
    // The distance back to the CIE.
    table.extend((table.len() as u32).to_le_bytes());
    table.extend((start as u64).to_le_bytes());
    table.extend((bytes as u64).to_le_bytes());
    table.extend([0; 4]);
    table.extend(0u32.to_le_bytes());
    let table = Box::leak(table.into_boxed_slice());
    // SAFETY: the table is well-formed, and neither it nor the code is ever freed.
    let known = unsafe { walk::register((start, bytes), (table.as_ptr() as usize, table.len())) };
    std::mem::forget(known);
}

/// Checks that code can be generated in this process.
///
/// # Errors
/// The reason why not.
pub fn available() -> Result<(), String> {
    area().map(drop)
}

/// Appends code; returns the address at which it runs. `None` if the area is full, or if a child
/// process cannot get an area of its own.
pub fn append(code: &[u8]) -> Option<usize> {
    let area = area().ok()?;
    let mut used = fork_lock::lock(&area.used);
    if used.owner != own_process() {
        separate_from_parent(area, &mut used).ok()?;
    }
    let start = used.bytes.next_multiple_of(16);
    let end = start + code.len();
    if end > used.backed {
        return None;
    }
    // SAFETY: this part of the area is backed, and handed out only once.
    unsafe {
        ptr::copy_nonoverlapping(code.as_ptr(), (area.write + start) as *mut u8, code.len());
    }
    used.bytes = end;
    Some(area.run + start)
}

/// The bytecode positions of one function's code.
#[derive(Debug)]
pub struct Positions {
    /// First byte of the native code.
    pub start: usize,
    /// Its length.
    pub bytes: usize,
    /// The bytecode.
    pub bytecode: *const u64,
    /// Pairs of native and bytecode offsets, sorted.
    pub table: Box<[(u32, u32)]>,
    next: *const Positions,
}

/// Publishes a function's positions.
pub fn publish_positions(
    start: usize,
    bytes: usize,
    bytecode: *const u64,
    table: Box<[(u32, u32)]>,
) {
    let node = Box::leak(Box::new(Positions {
        start,
        bytes,
        bytecode,
        table,
        next: ptr::null(),
    }));
    let mut head = code().positions.load(Ordering::Relaxed);
    loop {
        node.next = head;
        match code().positions.compare_exchange_weak(
            head,
            node,
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

/// Returns the bytecode instruction that a native position belongs to. Neither allocates nor locks.
pub fn bytecode_at(pc: usize) -> Option<*const u64> {
    let run = code().start.load(Ordering::Acquire);
    if run == 0 || pc.wrapping_sub(run) >= reserved() {
        return None;
    }
    let mut node = code().positions.load(Ordering::Acquire).cast_const();
    // SAFETY: nodes are leaked, so the pointers in the list stay valid.
    while let Some(n) = unsafe { node.as_ref() } {
        let off = pc.wrapping_sub(n.start);
        if off < n.bytes {
            let i = n
                .table
                .partition_point(|&(native, _)| native as usize <= off);
            let at = n.table[i.checked_sub(1)?].1;
            return Some(n.bytecode.wrapping_byte_add(at as usize));
        }
        node = n.next;
    }
    None
}
