//! Tells whether an interrupted thread may hold a lock of the C library.
//!
//! A thread that is abandoned inside the allocator keeps the allocator's lock for ever. Any code of
//! the C library may be code of the allocator, except for the functions that fill and copy memory.
//! These hold a lock only if other code of the C library called them: `realloc` does so. They matter
//! since LLVM fills and copies as many bytes as a damaged count asks for, which takes seconds.
//!
//! On x86-64 none of glibc's variants of these functions uses the stack, so the word at the stack
//! pointer is the return address. Unwind tables tell where the variant for this processor ends.
//!
//! Locks of other libraries are not considered.

use super::process::LLVM;
use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Size in bytes of the largest function that is looked for in the unwind tables.
const LARGEST: usize = 64 << 10;

/// Addresses of the C library's code.
pub(crate) struct LibcCode {
    all: Range<usize>,
    /// The functions that fill and copy memory.
    fills: [Range<usize>; 3],
}

/// Description of a function in the unwind tables, by libgcc's `unwind-dw2-fde.h`.
#[repr(C)]
struct DwarfEhBases {
    text: *const c_void,
    data: *const c_void,
    function: *const c_void,
}

unsafe extern "C" {
    fn _Unwind_Find_FDE(pc: *const c_void, bases: *mut DwarfEhBases) -> *const c_void;
}

/// Finds the C library's code, for [`may_hold_lock`].
pub(super) fn find() {
    LLVM.libc_code.get_or_init(LibcCode::find);
}

/// Returns true if a signal interrupted code that may hold a lock of the C library, or if its code
/// is not known. Async-signal-safe.
///
/// # Safety
/// `context` is that of a handler installed with SA_SIGINFO.
pub(super) unsafe fn may_hold_lock(context: *mut c_void) -> bool {
    let Some(code) = LLVM.libc_code.get() else {
        return true;
    };
    let context: *mut libc::ucontext_t = context.cast();
    // SAFETY: the kernel passes a valid context.
    let registers = unsafe { &(*context).uc_mcontext.gregs };
    let pc = registers[libc::REG_RIP as usize] as usize;
    if !code.fills.iter().any(|function| function.contains(&pc)) {
        return code.all.contains(&pc);
    }
    let top =
        std::ptr::with_exposed_provenance::<usize>(registers[libc::REG_RSP as usize] as usize);
    // SAFETY: the functions in `fills` leave the stack pointer at the return address.
    code.all.contains(&unsafe { top.read() })
}

impl LibcCode {
    fn find() -> LibcCode {
        let all = library();
        let functions = [
            libc::memset as *const () as usize,
            libc::memcpy as *const () as usize,
            libc::memmove as *const () as usize,
        ];
        let extent = |start: usize| match all.contains(&start) {
            true => start..end_of_function(start),
            // Another library replaces the function.
            false => 0..0,
        };
        LibcCode {
            fills: functions.map(extent),
            all,
        }
    }
}

/// Returns the address range of the C library's code; an empty one if it is not found.
fn library() -> Range<usize> {
    unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, out: *mut c_void) -> c_int {
        // SAFETY: the loader passes a live description, and the caller of `dl_iterate_phdr` the
        // address of a range.
        unsafe {
            let info = &*info;
            let name = CStr::from_ptr(info.dlpi_name).to_bytes();
            if !name.ends_with(b"/libc.so.6") {
                return 0;
            }
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            for h in headers {
                if h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0 {
                    let start = (info.dlpi_addr + h.p_vaddr) as usize;
                    out.cast::<Range<usize>>()
                        .write(start..start + h.p_memsz as usize);
                }
            }
            1
        }
    }
    let mut found = 0..0;
    // SAFETY: the callback has the expected type and writes to a local that outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut found).cast()) };
    found
}

/// Returns the end of the function that starts at an address, by the unwind tables; the start if
/// these have no entry.
fn end_of_function(start: usize) -> usize {
    let belongs = |distance: usize| {
        let mut bases = MaybeUninit::<DwarfEhBases>::uninit();
        let pc = std::ptr::without_provenance::<c_void>(start + distance);
        // SAFETY: the look-up accepts any address, and fills in `bases` if it finds an entry.
        unsafe {
            let found = !_Unwind_Find_FDE(pc, bases.as_mut_ptr()).is_null();
            found && bases.assume_init().function as usize == start
        }
    };
    if !belongs(0) || belongs(LARGEST) {
        return start;
    }
    let (mut inside, mut outside) = (0, LARGEST);
    while outside - inside > 1 {
        let middle = inside.midpoint(outside);
        match belongs(middle) {
            true => inside = middle,
            false => outside = middle,
        }
    }
    start + outside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_that_fill_memory_are_found() {
        let code = LibcCode::find();
        assert!(!code.all.is_empty());
        for function in &code.fills {
            assert!((64..LARGEST).contains(&function.len()), "{function:x?}");
            assert!(!function.contains(&(libc::malloc as *const () as usize)));
        }
    }
}
