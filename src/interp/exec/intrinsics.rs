//! Intrinsics that are neither arithmetic nor memory accesses: variable arguments, counters.

use super::handler;
use crate::frame;

/// The x86-64 System V `va_list` (ABI document, figure 3.34).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VaList {
    /// Offset in the save area of the next integer argument, in bytes.
    pub gp_offset: u32,
    /// Offset in the save area of the next floating-point argument, in bytes.
    pub fp_offset: u32,
    /// The next argument on the stack.
    pub overflow: *mut u8,
    /// The register save area.
    pub save: *mut u8,
}

handler!(va_start(o: A, r) {
    let list = r.get::<u64>(o.a) as *mut VaList;
    list.write(*frame::va_info(r.0))
});
handler!(va_arg_int(o: Da, r) {
    let list = r.get::<u64>(o.a) as *mut VaList;
    let value = if (*list).gp_offset < 48 {
        let v = (*list).save.add((*list).gp_offset as usize).cast::<u64>().read();
        (*list).gp_offset += 8;
        v
    } else {
        let v = (*list).overflow.cast::<u64>().read();
        (*list).overflow = (*list).overflow.add(8);
        v
    };
    r.put(o.dst, value)
});
handler!(va_arg_double(o: Da, r) {
    let list = r.get::<u64>(o.a) as *mut VaList;
    let value = if (*list).fp_offset < 176 {
        let v = (*list).save.add((*list).fp_offset as usize).cast::<u64>().read();
        (*list).fp_offset += 16;
        v
    } else {
        let v = (*list).overflow.cast::<u64>().read();
        (*list).overflow = (*list).overflow.add(8);
        v
    };
    r.put(o.dst, value)
});
handler!(cycle_counter(o: D, r) {
    #[cfg(target_arch = "x86_64")]
    let now = std::arch::x86_64::_rdtsc();
    #[cfg(not(target_arch = "x86_64"))]
    let now = 0u64;
    r.put(o.dst, now)
});
