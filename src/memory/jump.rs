//! setjmp and longjmp of compiled code.
//!
//! What: the functions that compiled code calls in the place of the C library's `setjmp` family.
//! They keep the registers, as the library's do, and which activation was the innermost. So a jump
//! out of interpreted frames, or over them, leaves the thread as it was. Why not the library's own: its buffers hide the registers
//! and have no room for the rest, and a buffer that nobody filled could not be told.
//!
//! What not: buffers that interpreted code fills are the interpreter's.

use super::abi;
use super::activation::Activation;
use super::thread;
use crate::ir::JUMP_BUFFER;
use std::mem;
use std::ptr;

/// What a buffer of compiled code holds (glibc's `jmp_buf` has 200 bytes).
#[repr(C)]
#[derive(Debug)]
pub struct Buffer {
    magic: u64,
    /// rbx, rbp, r12 to r15, rsp, rip; filled by `abi::set_jump`.
    registers: [u64; 8],
    activation: *mut Activation,
    /// The first 64 signals, all that Linux has.
    mask: u64,
    has_mask: u32,
}

const MAGIC: u64 = 0x6f6d_7076_6d6e_6a70;
const _: () = assert!(size_of::<Buffer>() <= JUMP_BUFFER as usize);

/// The second half of `setjmp`: everything but the registers. Returns what `setjmp` returns.
pub(super) extern "C" fn note(buffer: *mut Buffer, mask: i32) -> i32 {
    let state = thread::current();
    // SAFETY: the guest's buffer is as large as a jmp_buf; the state is this thread's.
    unsafe {
        let buffer = &mut *buffer;
        buffer.magic = MAGIC;
        buffer.activation = (*state).activation;
        buffer.has_mask = u32::from(mask != 0);
        if mask != 0 {
            let mut set: libc::sigset_t = mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &mut set);
            buffer.mask = (&raw const set).cast::<u64>().read();
        }
    }
    0
}

impl Buffer {
    /// The buffer at an address; `None` when compiled code did not fill it.
    ///
    /// # Safety
    /// The address is readable, as a jmp_buf.
    pub unsafe fn at<'a>(address: *const u8) -> Option<&'a Buffer> {
        // SAFETY: the caller's promise.
        unsafe {
            let buffer = address.cast::<Buffer>();
            ((*buffer).magic == MAGIC).then(|| &*buffer)
        }
    }

    /// The native stack pointer when it was filled.
    pub fn stack(&self) -> usize {
        self.registers[6] as usize
    }

    /// Goes to where it was filled: `setjmp` returns `value` there.
    ///
    /// # Safety
    /// The function that filled it is live on this thread, and what lies between may be left.
    pub unsafe fn resume(&self, value: i32) -> ! {
        let state = thread::current();
        // SAFETY: the caller's promise; the state is this thread's.
        unsafe {
            (*state).activation = self.activation;
            if self.has_mask != 0 {
                let mut set: libc::sigset_t = mem::zeroed();
                (&raw mut set).cast::<u64>().write(self.mask);
                libc::pthread_sigmask(libc::SIG_SETMASK, &set, ptr::null_mut());
            }
            abi::resume_jump(&raw const self.registers, value)
        }
    }
}

/// The functions by the names of the C library.
pub fn functions() -> [(&'static str, usize); 4] {
    let [plain, signals] = abi::set_jump_addresses();
    [
        ("setjmp", plain),
        ("_setjmp", plain),
        ("sigsetjmp", signals),
        ("__sigsetjmp", signals),
    ]
}
