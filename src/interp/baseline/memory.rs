//! Where baseline code lies, and which bytecode instruction a native position stands for.
//!
//! What: one range of address space is reserved; code is appended to it. The range is mapped
//! twice from one anonymous file: readable and executable where the code runs, readable and
//! writable where it is written. So no page is ever both, no protection changes while other
//! threads run code on the same page, and thousands of functions need two mappings.
//! The file is closed as soon as it is mapped, so the program never sees a descriptor of ours, nor
//! closes one by closing all. One frame description covers the range: baseline code never moves the
//! stack pointer, so the caller's frame is always just above it, as in a handler at its entry.
//! After a fork the child shares the file with its parent. Before it appends anything it maps a file of
//! its own at the same places, with the same contents up to the fork; each mapping is replaced
//! by one system call, so its threads may run code there meanwhile. The fork itself waits until nothing
//! is being appended (`interp::child`).
//! What not: nothing is freed; the bytecode that leads into code is not either.

use crate::interp::child;
use crate::memory::walk;
use crate::support::limits;
use std::ffi::c_void;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Bytes reserved where address space is not limited.
const AREA: usize = 256 << 20;
/// The least that is of use.
const LEAST: usize = 64 << 10;

/// Bytes of the range.
fn reserved() -> usize {
    limits::reserve(AREA, 32, 1 << 20)
}

struct Area {
    run: usize,
    write: usize,
    used: Mutex<Used>,
}

/// What of the area is used.
pub struct Used {
    /// Bytes of code.
    bytes: usize,
    /// Bytes of the area that its file backs.
    backed: usize,
    /// The file is a parent's.
    foreign: bool,
}

impl Used {
    /// In a child of fork.
    pub fn now_foreign(&mut self) {
        self.foreign = true;
    }
}

static RUN: AtomicUsize = AtomicUsize::new(0);

/// Why there is no executable memory.
fn failed(what: &str) -> String {
    format!("{what}: {}", std::io::Error::last_os_error())
}

static ONE: OnceLock<Result<Area, String>> = OnceLock::new();

fn area() -> Result<&'static Area, String> {
    ONE.get_or_init(make).as_ref().map_err(Clone::clone)
}

/// For who holds it over a fork, where there is an area.
pub fn used() -> Option<&'static Mutex<Used>> {
    Some(&ONE.get()?.as_ref().ok()?.used)
}

/// A file in memory, as large as the area or as files may be, and its size. Pages nobody wrote to
/// cost nothing.
fn file() -> Result<(OwnedFd, usize), String> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes the limit. A larger file would be a signal that ends the process.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0;
    let most = usize::try_from(limit.rlim_cur).unwrap_or(AREA);
    let size = if known {
        reserved().min(most)
    } else {
        reserved()
    };
    if size < LEAST {
        return Err(format!("files may have {size} bytes"));
    }
    // SAFETY: makes a file that is ours alone.
    let file = unsafe { libc::memfd_create(c"ompvm baseline".as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return Err(failed("memfd_create"));
    }
    // SAFETY: a fresh descriptor.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    // SAFETY: as above.
    if unsafe { libc::ftruncate(file.as_raw_fd(), size as i64) } != 0 {
        return Err(failed("ftruncate"));
    }
    Ok((file, size))
}

/// Maps the file, anywhere or in the place of another mapping of ours.
///
/// # Safety
/// `place` is null or the start of a whole mapping of the area, with the same contents.
unsafe fn map(file: &OwnedFd, prot: i32, place: *mut c_void) -> Result<usize, String> {
    let fixed = if place.is_null() { 0 } else { libc::MAP_FIXED };
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | fixed;
    // SAFETY: a mapping in free address space, or the caller's contract.
    let at = unsafe { libc::mmap(place, reserved(), prot, flags, file.as_raw_fd(), 0) };
    if at == libc::MAP_FAILED {
        return Err(failed("mmap"));
    }
    Ok(at as usize)
}

const WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;
const RUNS: i32 = libc::PROT_READ | libc::PROT_EXEC;

fn make() -> Result<Area, String> {
    let (file, backed) = file()?;
    // SAFETY: fresh mappings of a fresh file, touched by nobody else; those of a failure stay.
    let (run, write) = unsafe {
        (
            map(&file, RUNS, ptr::null_mut())?,
            map(&file, WRITE, ptr::null_mut())?,
        )
    };
    child::install();
    // SAFETY: what runs in the range are our templates.
    unsafe { describe_frames(run, reserved()) };
    RUN.store(run, Ordering::Release);
    Ok(Area {
        run,
        write,
        used: Mutex::new(Used {
            bytes: 0,
            backed,
            foreign: false,
        }),
    })
}

/// Gives a child of fork a file of its own, with what its parent had appended by then.
fn part(area: &Area, used: &mut Used) -> Result<(), String> {
    let (file, backed) = file()?;
    if backed < used.bytes {
        return Err(format!("files may have {backed} bytes"));
    }
    // SAFETY: the code up to the fork, which nobody changes.
    let code = unsafe { std::slice::from_raw_parts(area.run as *const u8, used.bytes) };
    let mut copy = File::from(file);
    copy.write_all(code).map_err(|e| e.to_string())?;
    let file = OwnedFd::from(copy);
    // SAFETY: our mappings, replaced whole, by the same contents. Where the second fails, the area
    // stays foreign, so nothing is ever written through the first.
    unsafe {
        map(&file, RUNS, area.run as *mut c_void)?;
        map(&file, WRITE, area.write as *mut c_void)?;
    }
    (used.backed, used.foreign) = (backed, false);
    Ok(())
}

/// Tells the unwinder that anywhere in the range the caller's frame is at the stack pointer plus
/// eight (DWARF 5, section 6.4.1; `.eh_frame` in the Linux Standard Base).
///
/// # Safety
/// Whatever runs in the range keeps the stack pointer where the call left it.
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
        0, 0, 0, 0, 0, 0, // nothing
    ];
    table.extend((cie.len() as u32).to_le_bytes());
    table.extend(cie);
    table.extend(24u32.to_le_bytes());
    // The distance from here back to the CIE.
    table.extend((table.len() as u32).to_le_bytes());
    table.extend((start as u64).to_le_bytes());
    table.extend((bytes as u64).to_le_bytes());
    table.extend([0; 4]);
    table.extend(0u32.to_le_bytes());
    let table = Box::leak(table.into_boxed_slice());
    // SAFETY: a well-formed table; neither it nor the code is ever freed.
    let known = unsafe { walk::register((start, bytes), (table.as_ptr() as usize, table.len())) };
    std::mem::forget(known);
}

/// Whether code can be made here at all.
///
/// # Errors
/// Why not.
pub fn available() -> Result<(), String> {
    area().map(drop)
}

/// Appends code; gives where it runs. `None` when the area is full, or a child of fork is refused one
/// of its own.
pub fn append(code: &[u8]) -> Option<usize> {
    let area = area().ok()?;
    let mut used = child::lock(&area.used);
    if used.foreign {
        part(area, &mut used).ok()?;
    }
    let start = used.bytes.next_multiple_of(16);
    let end = start + code.len();
    if end > used.backed {
        return None;
    }
    // SAFETY: this part of the area is backed, and handed out once.
    unsafe {
        ptr::copy_nonoverlapping(code.as_ptr(), (area.write + start) as *mut u8, code.len());
    }
    used.bytes = end;
    Some(area.run + start)
}

/// The bytecode positions behind one function's code.
#[derive(Debug)]
pub struct Positions {
    /// First byte of the native code.
    pub start: usize,
    /// Its length.
    pub bytes: usize,
    /// The bytecode.
    pub bytecode: *const u64,
    /// Native and bytecode offsets, sorted.
    pub table: Box<[(u32, u32)]>,
    next: *const Positions,
}

static POSITIONS: AtomicPtr<Positions> = AtomicPtr::new(ptr::null_mut());

/// Makes a function's positions known.
pub fn remember(start: usize, bytes: usize, bytecode: *const u64, table: Box<[(u32, u32)]>) {
    let node = Box::leak(Box::new(Positions {
        start,
        bytes,
        bytecode,
        table,
        next: ptr::null(),
    }));
    let mut head = POSITIONS.load(Ordering::Relaxed);
    loop {
        node.next = head;
        match POSITIONS.compare_exchange_weak(head, node, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

/// The bytecode instruction that a native position belongs to. Does not allocate or lock.
pub fn bytecode_at(pc: usize) -> Option<*const u64> {
    let run = RUN.load(Ordering::Acquire);
    if run == 0 || pc.wrapping_sub(run) >= reserved() {
        return None;
    }
    let mut node = POSITIONS.load(Ordering::Acquire).cast_const();
    // SAFETY: nodes are never freed.
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
