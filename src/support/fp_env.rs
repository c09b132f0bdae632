//! The floating-point environment of a thread: the control bits of MXCSR and of the x87 unit.
//!
//! The guest owns the environment of its threads: it may round upward, flush denormals or trap. A
//! parallel region passes the bits to its workers ([`FpControl`]). Internal floating-point code on
//! a guest's thread runs in the default environment ([`isolated`]), so that its results do not
//! depend on the guest's modes, and the guest sees none of its exceptions.
//!
//! Status flags (the exceptions that occurred) are not part of the environment: they belong to each
//! thread.

#[cfg(target_arch = "x86_64")]
use std::arch::asm;

/// The control bits, packed: x87 control word in the upper half, MXCSR's bits in the lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FpControl(u32);

/// MXCSR without the status flags and without the bit that only some processors have (bit 17).
#[cfg(target_arch = "x86_64")]
const CONTROL: u32 = 0xffc0;
/// Flushes results to zero, and treats denormal operands as zero.
#[cfg(target_arch = "x86_64")]
const FLUSH: u32 = 0x8040;

impl FpControl {
    /// The absence of an environment: loading it changes nothing. No thread has this value, since a
    /// bit of the x87 control word is always set.
    pub const NONE: FpControl = FpControl(0);

    /// The environment that the kernel gives to a new program.
    pub const DEFAULT: FpControl = FpControl(0x037f_1f80);

    /// Returns the calling thread's environment.
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

    /// Makes this the calling thread's environment, unless it is so already. A change clears the
    /// status flags of the changed unit, as in libomp.
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
            // SAFETY: loads a control word that some thread had. The flags are cleared first, since
            // a pending exception that the new word unmasks would be raised at once.
            unsafe {
                asm!(
                    "fnclex",
                    "fldcw [{}]",
                    in(reg) &raw const x87,
                    options(nostack, preserves_flags),
                )
            };
        }
        if self.0 as u16 != now.0 as u16 {
            load_mxcsr(self.0 & CONTROL);
        }
    }

    /// Returns [`FpControl::NONE`]: on other processors the environment is not tracked.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn current() -> FpControl {
        FpControl::NONE
    }

    /// Does nothing: on other processors the environment is not changed.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn load(self) {}
}

#[cfg(target_arch = "x86_64")]
fn load_mxcsr(value: u32) {
    // SAFETY: the value has no reserved bit set: it comes from a register, or consists of its
    // control bits.
    unsafe {
        asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags, readonly))
    };
}

/// Clears the calling thread's floating-point exception flags: a program begins with none.
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
/// `to` is writable.
#[cfg(target_arch = "x86_64")]
pub unsafe extern "C" fn store_to(to: *mut u32) {
    // SAFETY: writable by contract.
    unsafe { asm!("stmxcsr [{}]", in(reg) to, options(nostack, preserves_flags)) };
}

/// Loads the calling thread's MXCSR (`llvm.x86.sse.ldmxcsr`).
///
/// # Safety
/// `from` is readable, and the value has no reserved bit set.
#[cfg(target_arch = "x86_64")]
pub unsafe extern "C" fn load_from(from: *const u32) {
    // SAFETY: readable, without a reserved bit, by contract.
    unsafe { asm!("ldmxcsr [{}]", in(reg) from, options(nostack, preserves_flags)) };
}

/// Returns the calling thread's rounding mode in the numbers of C's `FLT_ROUNDS`: 0 toward zero, 1
/// to nearest, 2 upward, 3 downward (`llvm.get.rounding`). Reads the x87 unit, as LLVM's code does.
#[cfg(target_arch = "x86_64")]
pub extern "C" fn rounding() -> u32 {
    let control = FpControl::current().0 >> 16;
    [1, 3, 2, 0][(control >> 10 & 3) as usize]
}

/// Makes the calling thread flush denormals to zero, as `crtfastmath.o` does in a program linked
/// with `-ffast-math`.
pub fn flush_denormals() {
    #[cfg(target_arch = "x86_64")]
    load_mxcsr(FpControl::current().0 & CONTROL | FLUSH);
}

/// Computes `f(input)` in the default environment and preserves the status flags.
///
/// Rounds to nearest and traps at nothing, no matter what the guest chose. Leaves the x87 unit
/// alone: Rust code does not use it.
#[inline]
pub fn isolated<T, R: Copy>(input: &T, f: fn(&T) -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        let (mut before, default) = (0u32, FpControl::DEFAULT.0 & CONTROL);
        let mut input = std::ptr::from_ref(input);
        let mut f = f as *const ();
        // SAFETY: stores MXCSR and loads its default. Both values pass through the assembly, so
        // that no computation with them moves before it.
        unsafe {
            asm!("stmxcsr [{b}]", "ldmxcsr [{d}]", b = in(reg) &raw mut before, d = in(reg) &raw const default,
                 inout("rsi") input, inout("rdi") f, options(nostack, preserves_flags));
        }
        // SAFETY: the function and its input, unchanged.
        let (f, input) = unsafe { (std::mem::transmute::<*const (), fn(&T) -> R>(f), &*input) };
        let mut result = f(input);
        let at = &raw mut result;
        // SAFETY: restores MXCSR. The result lies in memory that the assembly may read, so it is
        // complete.
        unsafe {
            asm!(
                "ldmxcsr [{b}]",
                b = in(reg) &raw const before,
                in("rsi") at,
                options(nostack, preserves_flags),
            );
        }
        result
    }
    #[cfg(not(target_arch = "x86_64"))]
    f(input)
}

/// Keeps the calling thread in the default environment while this value lives.
#[derive(Debug)]
pub struct DefaultFpEnv(FpControl);

impl DefaultFpEnv {
    /// Enters the default environment.
    pub fn enter() -> DefaultFpEnv {
        let before = FpControl::current();
        FpControl::DEFAULT.load();
        DefaultFpEnv(before)
    }
}

impl Drop for DefaultFpEnv {
    fn drop(&mut self) {
        self.0.load();
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::hint::black_box;

    const UPWARD: FpControl = FpControl(0x0b7f_5f80);

    /// Divides between two barriers, so that no division moves across a change of the environment.
    fn third(one: &f64) -> u64 {
        black_box(*black_box(one) / 3.0).to_bits()
    }

    #[test]
    fn the_environment_is_loaded_and_read_back() {
        let _back = DefaultFpEnv::enter();
        let nearest = third(&black_box(1.0));
        UPWARD.load();
        assert_eq!(FpControl::current(), UPWARD);
        assert_eq!(third(&black_box(1.0)), nearest + 1);
        FpControl::NONE.load();
        assert_eq!(FpControl::current(), UPWARD);
    }

    #[test]
    fn rounding_modes_have_the_numbers_of_c() {
        let _back = DefaultFpEnv::enter();
        let modes = [(0x037f, 1), (0x077f, 3), (0x0b7f, 2), (0x0f7f, 0)];
        for (x87, number) in modes {
            FpControl(x87 << 16 | 0x1f80).load();
            assert_eq!(rounding(), number);
        }
    }

    #[test]
    fn isolated_code_rounds_to_nearest_and_leaves_no_flags() {
        let _back = DefaultFpEnv::enter();
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
        let _back = DefaultFpEnv::enter();
        // Every exception of SSE is unmasked.
        FpControl(0x037f_0000).load();
        let infinite = isolated(&black_box(0.0), |zero: &f64| 1.0 / *zero);
        FpControl::DEFAULT.load();
        assert!(infinite.is_infinite());
    }

    #[test]
    fn denormals_are_flushed() {
        let _back = DefaultFpEnv::enter();
        flush_denormals();
        assert_eq!(black_box(f64::MIN_POSITIVE) / black_box(2.0), 0.0);
        // The operand is treated as zero.
        assert_eq!(black_box(f64::MIN_POSITIVE / 4.0) * black_box(4.0), 0.0);
    }
}
