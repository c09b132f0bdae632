//! The floating-point environment of a thread: the control bits of MXCSR and of the x87 unit.
//!
//! The guest owns the environment of its threads: it may round upward, flush denormals or trap. A parallel region
//! hands the bits on to its workers ([`FpControl`]), and code of ours that computes with floating-point numbers on a
//! thread of the guest does so in the default environment ([`isolated`]), so that neither its results depend on the
//! guest's modes nor the guest sees its exceptions.
//!
//! Status flags (which exceptions occurred) are not part of it: they belong to each thread.

#[cfg(target_arch = "x86_64")]
use std::arch::asm;

/// The control bits, packed: x87 control word in the upper half, MXCSR's bits in the lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FpControl(u32);

/// MXCSR without the status flags and without what only some processors have (bit 17).
#[cfg(target_arch = "x86_64")]
const CONTROL: u32 = 0xffc0;
/// Flush results to zero, and take denormal operands for zero.
#[cfg(target_arch = "x86_64")]
const FLUSH: u32 = 0x8040;

impl FpControl {
    /// No environment at all: loading it changes nothing. No thread's own has this value, since a bit of the x87
    /// control word is always set.
    pub const NONE: FpControl = FpControl(0);

    /// The environment that the kernel gives to a new program.
    pub const DEFAULT: FpControl = FpControl(0x037f_1f80);

    /// The calling thread's environment.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn current() -> FpControl {
        let (mut mxcsr, mut x87) = (0u32, 0u16);
        // SAFETY: stores both registers to locals. `fnstcw` never waits for a pending exception.
        unsafe {
            asm!("stmxcsr [{m}]", "fnstcw [{x}]", m = in(reg) &raw mut mxcsr, x = in(reg) &raw mut x87,
                 options(nostack, preserves_flags));
        }
        FpControl(u32::from(x87) << 16 | mxcsr & CONTROL)
    }

    /// Makes this the calling thread's environment, if it is another one. Where it is, the status flags of the
    /// changed unit are cleared, as libomp does.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn load(self) {
        if self.0 != 0 {
            let now = FpControl::current();
            if now != self {
                self.replace(now);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[cold]
    fn replace(self, now: FpControl) {
        if self.0 >> 16 != now.0 >> 16 {
            let x87 = (self.0 >> 16) as u16;
            // SAFETY: loads a control word that some thread had. The flags are cleared first: one that the new
            // word unmasks would be reported at once.
            unsafe {
                asm!("fnclex", "fldcw [{}]", in(reg) &raw const x87, options(nostack, preserves_flags))
            };
        }
        if self.0 as u16 != now.0 as u16 {
            load_mxcsr(self.0 & CONTROL);
        }
    }

    /// Other processors: the environment is not looked at.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn current() -> FpControl {
        FpControl::NONE
    }

    /// Other processors: the environment is not changed.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn load(self) {}
}

#[cfg(target_arch = "x86_64")]
fn load_mxcsr(value: u32) {
    // SAFETY: the value has no reserved bit set: it is one that a register had, or made of its control bits.
    unsafe {
        asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags, readonly))
    };
}

/// Forgets which floating-point exceptions occurred on the calling thread: a program begins with none.
pub fn forget_exceptions() {
    #[cfg(target_arch = "x86_64")]
    {
        load_mxcsr(FpControl::current().0 & CONTROL);
        // SAFETY: clears flags of the x87 unit, which holds no value between calls.
        unsafe { asm!("fnclex", options(nostack, nomem, preserves_flags)) };
    }
}

/// Stores the calling thread's MXCSR, flags included (`llvm.x86.sse.stmxcsr`).
///
/// # Safety
/// `to` can be written to.
#[cfg(target_arch = "x86_64")]
pub unsafe extern "C" fn store_to(to: *mut u32) {
    // SAFETY: the caller's contract.
    unsafe { asm!("stmxcsr [{}]", in(reg) to, options(nostack, preserves_flags)) };
}

/// Loads the calling thread's MXCSR (`llvm.x86.sse.ldmxcsr`).
///
/// # Safety
/// `from` can be read, and has no reserved bit set.
#[cfg(target_arch = "x86_64")]
pub unsafe extern "C" fn load_from(from: *const u32) {
    // SAFETY: the caller's contract.
    unsafe { asm!("ldmxcsr [{}]", in(reg) from, options(nostack, preserves_flags)) };
}

/// Has the calling thread flush denormals to zero, as `crtfastmath.o` does in a program that is linked with
/// `-ffast-math`.
pub fn flush_denormals() {
    #[cfg(target_arch = "x86_64")]
    load_mxcsr(FpControl::current().0 & CONTROL | FLUSH);
}

/// Computes `f(input)` in the default environment; the status flags stay as they were.
///
/// Rounds to nearest and traps at nothing, whatever the guest asked for. The x87 unit is left alone: our code does
/// not use it.
#[inline]
pub fn isolated<T, R: Copy>(input: &T, f: fn(&T) -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        let (mut before, default) = (0u32, FpControl::DEFAULT.0 & CONTROL);
        let mut input = std::ptr::from_ref(input);
        let mut f = f as *const ();
        // SAFETY: stores MXCSR, loads its default. Both values pass through the assembly, so that nothing is
        // computed of them before it.
        unsafe {
            asm!("stmxcsr [{b}]", "ldmxcsr [{d}]", b = in(reg) &raw mut before, d = in(reg) &raw const default,
                 inout("rsi") input, inout("rdi") f, options(nostack, preserves_flags));
        }
        // SAFETY: the function and its input, unchanged.
        let (f, input) = unsafe { (std::mem::transmute::<*const (), fn(&T) -> R>(f), &*input) };
        let mut result = f(input);
        let at = &raw mut result;
        // SAFETY: loads what MXCSR was. The result lies in memory that the assembly may read, so it is complete.
        unsafe {
            asm!("ldmxcsr [{b}]", b = in(reg) &raw const before, in("rsi") at, options(nostack, preserves_flags));
        }
        result
    }
    #[cfg(not(target_arch = "x86_64"))]
    f(input)
}

/// While it lives, the calling thread is in the default environment.
#[derive(Debug)]
pub struct DefaultHere(FpControl);

impl DefaultHere {
    /// Enters the default environment.
    pub fn enter() -> DefaultHere {
        let before = FpControl::current();
        FpControl::DEFAULT.load();
        DefaultHere(before)
    }
}

impl Drop for DefaultHere {
    fn drop(&mut self) {
        self.0.load();
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::hint::black_box;

    const UPWARD: FpControl = FpControl(0x0b7f_5f80);

    /// Divides between two barriers, so that no division moves over a change of the environment.
    fn third(one: &f64) -> u64 {
        black_box(*black_box(one) / 3.0).to_bits()
    }

    #[test]
    fn the_environment_is_loaded_and_read_back() {
        let _back = DefaultHere::enter();
        let nearest = third(&black_box(1.0));
        UPWARD.load();
        assert_eq!(FpControl::current(), UPWARD);
        assert_eq!(third(&black_box(1.0)), nearest + 1);
        FpControl::NONE.load();
        assert_eq!(FpControl::current(), UPWARD);
    }

    #[test]
    fn isolated_code_rounds_to_nearest_and_leaves_no_flags() {
        let _back = DefaultHere::enter();
        let nearest = third(&black_box(1.0));
        UPWARD.load();
        load_mxcsr(UPWARD.0 & CONTROL);
        assert_eq!(isolated(&black_box(1.0), third), nearest);
        let mut mxcsr = 0u32;
        // SAFETY: stores to a local.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack)) };
        assert_eq!(mxcsr, UPWARD.0 & CONTROL);
    }

    #[test]
    fn isolated_code_does_not_trap() {
        let _back = DefaultHere::enter();
        // Every exception of SSE is unmasked.
        FpControl(0x037f_0000).load();
        let infinite = isolated(&black_box(0.0), |zero: &f64| 1.0 / *zero);
        FpControl::DEFAULT.load();
        assert!(infinite.is_infinite());
    }

    #[test]
    fn denormals_are_flushed() {
        let _back = DefaultHere::enter();
        flush_denormals();
        assert_eq!(black_box(f64::MIN_POSITIVE) / black_box(2.0), 0.0);
        // The half of zero, as the operand counts.
        assert_eq!(black_box(f64::MIN_POSITIVE / 4.0) * black_box(4.0), 0.0);
    }
}
