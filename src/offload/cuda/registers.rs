//! Limits the registers of kernels with low occupancy.
//!
//! A multiprocessor divides its registers among resident threads. The driver's compiler allocates
//! for the part of a kernel with the highest register pressure, even if that part is rarely
//! executed (a series for rare arguments inside a hot loop). With fewer than a fourth of the
//! possible threads, the latency of double-precision arithmetic and memory stays exposed. Such a
//! kernel is compiled again with a register limit, and the new code is used if it spills little.
//!
//! Kernels with enough resident threads are left alone, because more threads hide no more latency.

use super::driver::{self, Function, Module};
use super::gpu::Gpu;
use std::ffi::CString;
use std::ptr::null_mut;

/// Divisor of a multiprocessor's thread count that gives the required number of resident threads.
const OCCUPANCY_DIVISOR: u32 = 4;
/// Maximum additional bytes of local memory per thread.
const MAX_SPILL_BYTES: i32 = 128;

/// Register and local memory usage of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResourceUsage {
    /// Registers per thread.
    pub registers: i32,
    /// Bytes of local memory per thread.
    pub stack: i32,
}

impl ResourceUsage {
    /// Queries the driver for a kernel of a loaded module.
    pub(super) fn query(gpu: &Gpu, module: Module, kernel: &str) -> Option<ResourceUsage> {
        let name = CString::new(kernel).ok()?;
        let mut function = Function(null_mut());
        let (mut registers, mut stack) = (0, 0);
        // SAFETY: the module is loaded and the name is a C string; the result pointers are valid.
        let found = unsafe {
            let ask = gpu.driver.function_attribute;
            (gpu.driver.function)(&mut function, module, name.as_ptr()) == 0
                && ask(&mut registers, driver::FUNCTION_REGISTERS, function) == 0
                && ask(&mut stack, driver::FUNCTION_LOCAL, function) == 0
        };
        found.then_some(ResourceUsage { registers, stack })
    }

    /// Returns true if the code with a register limit spills little enough.
    pub(super) fn accepts(self, bounded: ResourceUsage) -> bool {
        bounded.registers < self.registers && bounded.stack <= self.stack + MAX_SPILL_BYTES
    }
}

/// Returns the maximum registers per thread at which enough threads are resident.
pub(super) fn limit(registers: u32, threads: u32) -> u32 {
    registers / (threads / OCCUPANCY_DIVISOR).max(1)
}

/// Adds a `.maxnreg` directive to the named kernels.
pub(super) fn bound(ptx: &str, kernels: &[&str], limit: u32) -> String {
    let mut bounded = String::with_capacity(ptx.len() + 32 * kernels.len());
    let mut open = false;
    for line in ptx.split_inclusive('\n') {
        let entry = line.split_once(".entry ").map(|(_, rest)| {
            let end = rest.find(|c: char| c == '(' || c.is_whitespace());
            &rest[..end.unwrap_or(rest.len())]
        });
        if let Some(name) = entry {
            open = kernels.contains(&name);
        }
        if open && line.starts_with('{') {
            bounded.push_str(&format!(".maxnreg {limit}\n"));
            open = false;
        }
        bounded.push_str(line);
    }
    bounded
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.visible .entry one(
\t.param .u64 one_param_0
)
.maxntid 128
{
\tret;
}
.func two()
{
\tret;
}
.visible .entry three()
{
\tret;
}
";

    #[test]
    fn bounds_only_the_kernels_named() {
        let bounded = bound(PTX, &["one"], 128);
        assert_eq!(bounded.matches(".maxnreg").count(), 1);
        assert!(
            bounded.contains(".maxntid 128\n.maxnreg 128\n{\n"),
            "{bounded}"
        );
        let bounded = bound(PTX, &["three"], 96);
        assert!(
            bounded.contains(".entry three()\n.maxnreg 96\n{"),
            "{bounded}"
        );
        assert_eq!(bound(PTX, &["two"], 96), PTX);
    }

    #[test]
    fn register_limit_follows_the_occupancy() {
        assert_eq!(limit(65536, 2048), 128);
        assert_eq!(limit(65536, 1536), 170);
    }

    #[test]
    fn excessive_spilling_is_rejected() {
        let free = ResourceUsage {
            registers: 144,
            stack: 112,
        };
        assert!(free.accepts(ResourceUsage {
            registers: 128,
            stack: 176
        }));
        assert!(!free.accepts(ResourceUsage {
            registers: 128,
            stack: 304
        }));
        assert!(!free.accepts(ResourceUsage {
            registers: 144,
            stack: 112
        }));
    }
}
