//! Functions that device code may call on processors, of numbers and without pointers: mathematical
//! functions, which use the host's library, and instructions that need neither threads nor memory of
//! a device.
//!
//! Names that start with `ompvm.nvvm` are LLVM intrinsics of the device.

use ompvm_support::math_functions::{DeviceSupport, function as known};
use std::ffi::CString;
use std::sync::atomic::{Ordering, fence};

/// Expands rows of a name and the function that implements it.
macro_rules! functions {
    ($($name:literal => $f:expr;)*) => {
        /// Returns the address of the function of this table with that name, or 0.
        fn built_in(name: &str) -> usize {
            match name {
                $($name => $f as *const () as usize,)*
                _ => 0,
            }
        }
    };
}

pub(super) use functions;

functions! {
    "ompvm.nvvm.membar.cta" => full_fence;
    "ompvm.nvvm.membar.gl" => full_fence;
    "ompvm.nvvm.membar.sys" => full_fence;
    "ompvm.nvvm.fence.sc.cluster" => full_fence;
    "ompvm.nvvm.sqrt.rn.d" => sqrt;
    "ompvm.nvvm.sqrt.rn.f" => sqrtf;
    "ompvm.nvvm.sqrt.f" => sqrtf;
    "ompvm.nvvm.sqrt.approx.f" => sqrtf;
    "ompvm.nvvm.rsqrt.approx.d" => rsqrt;
    "ompvm.nvvm.rsqrt.approx.f" => rsqrtf;
    "ompvm.nvvm.ex2.approx.f" => exp2f;
    "ompvm.nvvm.ex2.approx.ftz.f" => exp2f;
    "ompvm.nvvm.ex2.approx.f32" => exp2f;
    "ompvm.nvvm.lg2.approx.f" => log2f;
    "ompvm.nvvm.sin.approx.f" => sinf;
    "ompvm.nvvm.cos.approx.f" => cosf;
    "ompvm.nvvm.tanh.approx.f32" => tanhf;
    "__nvvm_reflect" => reflect;
    "__nv_rsqrt" => rsqrt;
    "__nv_rsqrtf" => rsqrtf;
    "__nv_rcbrt" => rcbrt;
    "__nv_rcbrtf" => rcbrtf;
    "__nv_sinpi" => sinpi;
    "__nv_sinpif" => sinpif;
    "__nv_cospi" => cospi;
    "__nv_cospif" => cospif;
    "__nv_normcdf" => normcdf;
    "__nv_normcdff" => normcdff;
    "__nv_powi" => powi;
    "__nv_powif" => powif;
    "__nv_saturatef" => saturatef;
    "__nv_fast_fdividef" => fdividef;
    "__nv_abs" => abs;
    "__nv_llabs" => llabs;
    "abs" => abs;
    "labs" => llabs;
    "llabs" => llabs;
    "__nv_min" => min;
    "__nv_max" => max;
    "__nv_umin" => umin;
    "__nv_umax" => umax;
    "__nv_llmin" => llmin;
    "__nv_llmax" => llmax;
    "__nv_ullmin" => ullmin;
    "__nv_ullmax" => ullmax;
    "__nv_popc" => popc;
    "__nv_popcll" => popcll;
    "__nv_clz" => clz;
    "__nv_clzll" => clzll;
    "__nv_ffs" => ffs;
    "__nv_ffsll" => ffsll;
    "__nv_brev" => brev;
    "__nv_brevll" => brevll;
    "__nv_mulhi" => mulhi;
    "__nv_umulhi" => umulhi;
    "__nv_isnand" => isnand;
    "__nv_isnanf" => isnanf;
    "__nv_isinfd" => isinfd;
    "__nv_isinff" => isinff;
    "__nv_isfinited" => isfinited;
    "__nv_finitef" => isfinitef;
    "__nv_signbitd" => signbitd;
    "__nv_signbitf" => signbitf;
    "__nv_float_as_int" => float_bits;
    "__nv_int_as_float" => bits_float;
    "__nv_double_as_longlong" => double_bits;
    "__nv_longlong_as_double" => bits_double;
}

/// Returns the address of the function with that name, or 0.
pub(super) fn address(name: &str) -> usize {
    match built_in(name) {
        0 => mathematics(name),
        address => address,
    }
}

fn mathematics(name: &str) -> usize {
    let own = name.strip_prefix("__nv_").unwrap_or(name);
    let own = own.strip_prefix("fast_").unwrap_or(own);
    // Variants with explicit rounding: `__nv_dsqrt_rn`, `__nv_fsqrt_rn`, `__nv_fmaf_rn`.
    let plain = match own {
        "dsqrt_rn" => "sqrt",
        "fsqrt_rn" => "sqrtf",
        "fma_rn" => "fma",
        "fmaf_rn" => "fmaf",
        "ddiv_rn" | "fdiv_rn" => return 0,
        other => other,
    };
    match known(plain) {
        // Functions with pointer arguments are excluded: they are device addresses, which the host
        // library cannot access.
        Some((_, DeviceSupport::Plain | DeviceSupport::Host)) => process(plain),
        Some((_, DeviceSupport::Pointer)) => 0,
        None => match plain {
            // Code generation emits these for wide integers.
            "__udivti3" | "__umodti3" | "__divti3" | "__modti3" => process(plain),
            _ => 0,
        },
    }
}

/// Returns the address of a function of this process's libraries, or 0.
pub(super) fn process(name: &str) -> usize {
    let Ok(name) = CString::new(name) else {
        return 0;
    };
    // SAFETY: `name` is a C string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize }
}

/// Returns the time in nanoseconds since an arbitrary moment.
pub(super) extern "C" fn nanoseconds() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the result pointer is valid.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

extern "C" fn full_fence() {
    fence(Ordering::SeqCst);
}

extern "C" fn reflect(_: u64) -> i32 {
    0
}

macro_rules! mathematics {
    ($($name:ident ($($arg:ident: $of:ty),*) -> $ret:ty = $value:expr;)*) => {
        $(extern "C" fn $name($($arg: $of),*) -> $ret {
            $value
        })*
    };
}

mathematics! {
    sqrt(x: f64) -> f64 = x.sqrt();
    sqrtf(x: f32) -> f32 = x.sqrt();
    rsqrt(x: f64) -> f64 = 1.0 / x.sqrt();
    rsqrtf(x: f32) -> f32 = 1.0 / x.sqrt();
    rcbrt(x: f64) -> f64 = 1.0 / x.cbrt();
    rcbrtf(x: f32) -> f32 = 1.0 / x.cbrt();
    exp2f(x: f32) -> f32 = x.exp2();
    log2f(x: f32) -> f32 = x.log2();
    sinf(x: f32) -> f32 = x.sin();
    cosf(x: f32) -> f32 = x.cos();
    tanhf(x: f32) -> f32 = x.tanh();
    sinpi(x: f64) -> f64 = (x % 2.0 * std::f64::consts::PI).sin();
    sinpif(x: f32) -> f32 = (x % 2.0 * std::f32::consts::PI).sin();
    cospi(x: f64) -> f64 = (x % 2.0 * std::f64::consts::PI).cos();
    cospif(x: f32) -> f32 = (x % 2.0 * std::f32::consts::PI).cos();
    normcdf(x: f64) -> f64 = 0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    normcdff(x: f32) -> f32 = normcdf(x.into()) as f32;
    powi(x: f64, n: i32) -> f64 = x.powi(n);
    powif(x: f32, n: i32) -> f32 = x.powi(n);
    saturatef(x: f32) -> f32 = if x > 0.0 { x.min(1.0) } else { 0.0 };
    fdividef(x: f32, y: f32) -> f32 = x / y;
    abs(x: i32) -> i32 = x.wrapping_abs();
    llabs(x: i64) -> i64 = x.wrapping_abs();
    min(a: i32, b: i32) -> i32 = a.min(b);
    max(a: i32, b: i32) -> i32 = a.max(b);
    umin(a: u32, b: u32) -> u32 = a.min(b);
    umax(a: u32, b: u32) -> u32 = a.max(b);
    llmin(a: i64, b: i64) -> i64 = a.min(b);
    llmax(a: i64, b: i64) -> i64 = a.max(b);
    ullmin(a: u64, b: u64) -> u64 = a.min(b);
    ullmax(a: u64, b: u64) -> u64 = a.max(b);
    popc(x: u32) -> i32 = x.count_ones() as i32;
    popcll(x: u64) -> i32 = x.count_ones() as i32;
    clz(x: u32) -> i32 = x.leading_zeros() as i32;
    clzll(x: u64) -> i32 = x.leading_zeros() as i32;
    ffs(x: u32) -> i32 = if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 };
    ffsll(x: u64) -> i32 = if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 };
    brev(x: u32) -> u32 = x.reverse_bits();
    brevll(x: u64) -> u64 = x.reverse_bits();
    mulhi(a: i32, b: i32) -> i32 = ((i64::from(a) * i64::from(b)) >> 32) as i32;
    umulhi(a: u32, b: u32) -> u32 = ((u64::from(a) * u64::from(b)) >> 32) as u32;
    isnand(x: f64) -> i32 = x.is_nan().into();
    isnanf(x: f32) -> i32 = x.is_nan().into();
    isinfd(x: f64) -> i32 = x.is_infinite().into();
    isinff(x: f32) -> i32 = x.is_infinite().into();
    isfinited(x: f64) -> i32 = x.is_finite().into();
    isfinitef(x: f32) -> i32 = x.is_finite().into();
    signbitd(x: f64) -> i32 = x.is_sign_negative().into();
    signbitf(x: f32) -> i32 = x.is_sign_negative().into();
    float_bits(x: f32) -> u32 = x.to_bits();
    bits_float(x: u32) -> f32 = f32::from_bits(x);
    double_bits(x: f64) -> u64 = x.to_bits();
    bits_double(x: u64) -> f64 = f64::from_bits(x);
}

fn erfc(x: f64) -> f64 {
    unsafe extern "C" {
        fn erfc(x: f64) -> f64;
    }
    // SAFETY: libm's `erfc` has no preconditions.
    unsafe { erfc(x) }
}
