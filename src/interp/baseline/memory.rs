//! Where baseline code lies, and which bytecode instruction a native position stands for.
//!
//! What: one range of address space is reserved; code is appended to it. The range is mapped
//! twice from one anonymous file: readable and executable where the code runs, readable and
//! writable where it is written. So no page is ever both, no protection changes while other
//! threads run code on the same page, and thousands of functions need two mappings.
//! One frame description covers the range: baseline code never moves the stack pointer, so the
//! caller's frame is always just above it, as in a handler at its entry.
//! After a fork the child shares the file with its parent: it must not append, so it stops
//! compiling and goes on in what is there.
//! What not: nothing is freed; the bytecode that leads into code is not either.

use crate::memory::walk;
use parking_lot::Mutex;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Bytes reserved.
const AREA: usize = 256 << 20;
/// Bytes asked of the file at a time.
const STEP: usize = 1 << 20;

struct Area {
    run: usize,
    write: usize,
    file: i32,
    /// Used, and backed by the file, of the area.
    used: Mutex<(usize, usize)>,
}

static RUN: AtomicUsize = AtomicUsize::new(0);
/// Set in a child of fork.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Why there is no executable memory.
fn failed(what: &str) -> String {
    format!("{what}: {}", std::io::Error::last_os_error())
}

fn area() -> Result<&'static Area, String> {
    static ONE: OnceLock<Result<Area, String>> = OnceLock::new();
    ONE.get_or_init(make).as_ref().map_err(Clone::clone)
}

extern "C" fn child() {
    CLOSED.store(true, Ordering::Relaxed);
}

fn make() -> Result<Area, String> {
    // SAFETY: fresh mappings of a fresh file, touched by nobody else.
    unsafe {
        let file = libc::memfd_create(c"ompvm baseline".as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return Err(failed("memfd_create"));
        }
        let map = |prot: i32| {
            let p = libc::mmap(
                ptr::null_mut(),
                AREA,
                prot,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file,
                0,
            );
            if p == libc::MAP_FAILED {
                Err(failed("mmap"))
            } else {
                Ok(p as usize)
            }
        };
        if libc::ftruncate(file, STEP as i64) != 0 {
            return Err(failed("ftruncate"));
        }
        let run = map(libc::PROT_READ | libc::PROT_EXEC)?;
        let write = map(libc::PROT_READ | libc::PROT_WRITE)?;
        libc::pthread_atfork(None, None, Some(child));
        describe_frames(run, AREA);
        RUN.store(run, Ordering::Release);
        Ok(Area {
            run,
            write,
            file,
            used: Mutex::new((0, STEP)),
        })
    }
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

/// Appends code; gives where it runs. `None` when the area is full, or closed after a fork.
pub fn append(code: &[u8]) -> Option<usize> {
    let area = area().ok()?;
    let mut used = area.used.lock();
    let start = used.0.next_multiple_of(16);
    let end = start + code.len();
    if CLOSED.load(Ordering::Relaxed) || end > AREA {
        return None;
    }
    if end > used.1 {
        let size = end.next_multiple_of(STEP);
        // SAFETY: our own file.
        if unsafe { libc::ftruncate(area.file, size as i64) } != 0 {
            return None;
        }
        used.1 = size;
    }
    // SAFETY: this part of the area is backed, and handed out once.
    unsafe {
        ptr::copy_nonoverlapping(code.as_ptr(), (area.write + start) as *mut u8, code.len());
    }
    used.0 = end;
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
    if run == 0 || pc.wrapping_sub(run) >= AREA {
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
