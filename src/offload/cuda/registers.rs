//! Bounds the registers of kernels of which too few threads run at once.
//!
//! A multiprocessor shares its registers among the threads that it runs. The driver's compiler gives a
//! kernel as many as its largest part can use, even where that part hardly ever runs (a series for rare
//! arguments inside a hot loop). With fewer than a fourth of the threads that fit, the latency of double
//! precision and of memory stays visible. So such a kernel is compiled once more with a bound, and the
//! bounded code is kept if it spills little.
//!
//! Leaves alone what has enough threads already: more of them hide nothing more.

use super::driver::{self, Function, Module};
use super::gpu::Gpu;
use std::ffi::CString;
use std::ptr::null_mut;

/// Part of a multiprocessor's threads that a kernel shall let run at once.
const PART: u32 = 4;
/// Bytes of each thread's stack that a bound may cost.
const SPILLED: i32 = 128;

/// Registers and stack of a kernel's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Needs {
    /// Registers of a thread.
    pub registers: i32,
    /// Bytes of a thread's stack.
    pub stack: i32,
}

impl Needs {
    /// Asks the driver about a kernel of a loaded module.
    pub(super) fn of(gpu: &Gpu, module: Module, kernel: &str) -> Option<Needs> {
        let name = CString::new(kernel).ok()?;
        let mut function = Function(null_mut());
        let (mut registers, mut stack) = (0, 0);
        // SAFETY: a loaded module and a C string; the results have their places.
        let found = unsafe {
            let ask = gpu.driver.function_attribute;
            (gpu.driver.function)(&mut function, module, name.as_ptr()) == 0
                && ask(&mut registers, driver::FUNCTION_REGISTERS, function) == 0
                && ask(&mut stack, driver::FUNCTION_LOCAL, function) == 0
        };
        found.then_some(Needs { registers, stack })
    }

    /// Returns true if code with a bound is worth its spilled registers.
    pub(super) fn accepts(self, bounded: Needs) -> bool {
        bounded.registers < self.registers && bounded.stack <= self.stack + SPILLED
    }
}

/// The most registers of a thread with which enough threads run at once.
pub(super) fn most(registers: u32, threads: u32) -> u32 {
    registers / (threads / PART).max(1)
}

/// Adds a bound of registers to the kernels of these names.
pub(super) fn bound(ptx: &str, kernels: &[&str], most: u32) -> String {
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
            bounded.push_str(&format!(".maxnreg {most}\n"));
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
    fn a_fourth_of_the_threads_shares_the_registers() {
        assert_eq!(most(65536, 2048), 128);
        assert_eq!(most(65536, 1536), 170);
    }

    #[test]
    fn much_spilling_is_refused() {
        let free = Needs {
            registers: 144,
            stack: 112,
        };
        assert!(free.accepts(Needs {
            registers: 128,
            stack: 176
        }));
        assert!(!free.accepts(Needs {
            registers: 128,
            stack: 304
        }));
        assert!(!free.accepts(Needs {
            registers: 144,
            stack: 112
        }));
    }
}
