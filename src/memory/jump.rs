//! `setjmp` and `longjmp` of compiled code.
//!
//! Compiled code calls these functions in place of the C library's `setjmp` family. They save the
//! registers, as the library's do, and the innermost activation, so a jump out of interpreted
//! frames, or over them, restores the thread. The library's own buffers do not serve: they mangle
//! the registers, have no room for the activation, and could not be told from a buffer that was
//! never filled.
//!
//! Buffers that interpreted code fills belong to the interpreter.

use super::abi;
use super::activation::Activation;
use super::thread;
use ompvm_ir::JUMP_BUFFER;
use std::mem;
use std::ptr;

/// The contents of a buffer of compiled code (glibc's `jmp_buf` has 200 bytes).
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

/// Completes `setjmp`: saves everything but the registers. Returns 0, the result of `setjmp`.
pub(super) extern "C" fn note(buffer: *mut Buffer, mask: i32) -> i32 {
    let state = thread::current();
    // SAFETY: the guest's buffer is as large as a jmp_buf, which `Buffer` fits in (checked above);
    // the state is this thread's.
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
    /// Returns the buffer at an address; `None` if compiled code did not fill it.
    ///
    /// # Safety
    /// The address is readable for the size of a jmp_buf.
    pub unsafe fn at<'a>(address: *const u8) -> Option<&'a Buffer> {
        // SAFETY: readable by contract; the magic number says that all fields are initialized.
        unsafe {
            let buffer = address.cast::<Buffer>();
            ((*buffer).magic == MAGIC).then(|| &*buffer)
        }
    }

    /// Returns the native stack pointer at the time of the `setjmp`.
    pub fn stack(&self) -> usize {
        self.registers[6] as usize
    }

    /// Continues at the `setjmp` that filled the buffer, which returns `value`.
    ///
    /// # Safety
    /// The function that filled the buffer is live on this thread, and the frames between may be
    /// dropped.
    pub unsafe fn resume(&self, value: i32) -> ! {
        let state = thread::current();
        // SAFETY: the registers are those of a live frame by contract; the state is this thread's.
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

/// Returns the functions by the names of the C library.
pub fn functions() -> [(&'static str, usize); 4] {
    let [plain, signals] = abi::set_jump_addresses();
    [
        ("setjmp", plain),
        ("_setjmp", plain),
        ("sigsetjmp", signals),
        ("__sigsetjmp", signals),
    ]
}
