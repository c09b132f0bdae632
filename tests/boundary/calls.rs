//! Calls from guest to native code, with each class of argument and result of the ABI.
//!
//! `entry` tests the other direction.

use crate::build::{Big, Build, call, slots, sym};
use ompvm::ir::*;
use ompvm::memory::abi::CallPlan;
use std::arch::x86_64::{__m128, __m256, _mm_add_ps, _mm256_add_ps, _mm256_mul_ps, _mm256_set1_ps};

#[test]
fn integers_go_to_registers_and_then_the_stack() {
    extern "C" fn f(a: i8, b: u16, c: i32, d: i64, e: u8, f: i16, g: i8, h: i64, i: i32) -> i64 {
        i64::from(a)
            + i64::from(b) * 10
            + i64::from(c) * 100
            + d * 1000
            + i64::from(e) * 7
            + i64::from(f) * 3
            + i64::from(g) * 5
            + h * 11
            + i64::from(i) * 13
    }
    let mut b = Build::default();
    let (i8_, i16_, i32_, i64_) = (b.int(8), b.int(16), b.int(32), b.int(64));
    let signed = ParamAttrs {
        signext: true,
        ..Default::default()
    };
    let none = ParamAttrs::default();
    let args = [
        (i8_, signed.clone()),
        (i16_, none.clone()),
        (i32_, none.clone()),
        (i64_, none.clone()),
        (i8_, none.clone()),
        (i16_, signed.clone()),
        (i8_, signed),
        (i64_, none.clone()),
        (i32_, none.clone()),
    ];
    let plan = CallPlan::new(&b.m, i64_, &args, (i64_, &none), false).unwrap();
    let v: [(i64, u64); 9] = [
        (-1, 0xff),
        (2, 2),
        (-3, 0xffff_fffd),
        (-4, (-4i64) as u64),
        (200, 200),
        (-6, 0xfffa),
        (-7, 0xf9),
        (8, 8),
        (-9, 0xffff_fff7),
    ];
    let args: Vec<_> = v.iter().map(|x| vec![x.1]).collect();
    let got = call(&plan, f as *const () as usize, &args)[0] as i64;
    assert_eq!(got, f(-1, 2, -3, -4, 200, -6, -7, 8, -9));
    assert_eq!(plan.simple_ints(), None);
    assert_eq!(b.plan(&[i32_, i64_], i32_, false).simple_ints(), Some(2));
}

#[test]
fn snprintf_takes_integers_doubles_long_doubles_and_strings() {
    let mut b = Build::default();
    let (p, i32_, i64_) = (b.ptr(), b.int(32), b.int(64));
    let (f64_, f80) = (b.float(FloatKind::Double), b.float(FloatKind::X86Fp80));
    let mut args = vec![p, i64_, p, i32_, f64_, p, i64_, f80, f64_];
    args.extend([f64_; 9]);
    args.push(i32_);
    let plan = b.plan(&args, i32_, true);
    let mut buffer = [0u8; 256];
    let format = c"%d %.2f %s %ld %.3Lf %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %d";
    let s = c"text";
    // 2.5L: sign and exponent 0x4000, mantissa 0xa000000000000000
    let mut v = vec![
        vec![buffer.as_mut_ptr() as u64],
        vec![256],
        vec![format.as_ptr() as u64],
        vec![(-42i32) as u32 as u64],
        vec![1.25f64.to_bits()],
        vec![s.as_ptr() as u64],
        vec![(-7i64) as u64],
        vec![0xa000_0000_0000_0000, 0x4000],
        vec![0.5f64.to_bits()],
    ];
    v.extend((1..=9).map(|n| vec![f64::from(n).to_bits()]));
    v.push(vec![99]);
    call(&plan, sym("snprintf"), &v);
    let got = std::ffi::CStr::from_bytes_until_nul(&buffer)
        .unwrap()
        .to_str()
        .unwrap();
    assert_eq!(
        got,
        "-42 1.25 text -7 2.500 0.5 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 99"
    );
}

#[test]
fn small_structs_return_in_registers() {
    let mut b = Build::default();
    let (i32_, i64_) = (b.int(32), b.int(64));
    // clang: div returns i64, ldiv { i64, i64 }
    let plan = b.plan(&[i32_, i32_], i64_, false);
    let got = call(&plan, sym("div"), &[vec![17], vec![5]]);
    assert_eq!((got[0] as u32, got[0] >> 32), (3, 2));
    let pair = b.strct(&[i64_, i64_]);
    let plan = b.plan(&[i64_, i64_], pair, false);
    let got = call(&plan, sym("ldiv"), &[vec![(-17i64) as u64], vec![5]]);
    assert_eq!((got[0] as i64, got[1] as i64), (-3, -2));
    #[repr(C)]
    struct Mixed {
        d: f64,
        i: i64,
    }
    extern "C" fn mixed(x: f64) -> Mixed {
        Mixed { d: x * 2.0, i: 77 }
    }
    let f64_ = b.float(FloatKind::Double);
    let ty = b.strct(&[f64_, i64_]);
    let plan = b.plan(&[f64_], ty, false);
    let got = call(
        &plan,
        mixed as *const () as usize,
        &[vec![1.5f64.to_bits()]],
    );
    assert_eq!((f64::from_bits(got[0]), got[1]), (3.0, 77));
}

#[test]
fn long_double_functions() {
    let mut b = Build::default();
    let f80 = b.float(FloatKind::X86Fp80);
    let p = b.ptr();
    let plan = b.plan(&[p, p], f80, false);
    let text = c"-6.25";
    let x = call(
        &plan,
        sym("strtold"),
        &[vec![text.as_ptr() as u64], vec![0]],
    );
    let plan = b.plan(&[f80], f80, false);
    let y = call(&plan, sym("fabsl"), &[x[..2].to_vec()]);
    assert_eq!(y[..2], [0xc800_0000_0000_0000, 0x4001]);
    let plan = b.plan(&[f80, f80], f80, false);
    let z = call(
        &plan,
        sym("powl"),
        &[y[..2].to_vec(), vec![0x8000_0000_0000_0000, 0x4000]],
    );
    // 39.0625 = 1.220703125 * 2^5
    assert_eq!(z[..2], [0x9c40_0000_0000_0000, 0x4004]);
}

#[test]
fn wide_integers_vectors_and_halves() {
    extern "C" fn wide(a: i64, x: i128, b: i64, c: i64, y: i128, d: i64) -> i128 {
        x - y * i128::from(a) + i128::from(b + c * 10 + d * 100)
    }
    let mut b = Build::default();
    let (i64_, i128_) = (b.int(64), b.int(128));
    let plan = b.plan(&[i64_, i128_, i64_, i64_, i128_, i64_], i128_, false);
    let w = |v: i128| vec![v as u64, (v >> 64) as u64];
    let (x, y) = (-(1i128 << 90), (1i128 << 70) + 5);
    let got = call(
        &plan,
        wide as *const () as usize,
        &[vec![3], w(x), vec![1], vec![2], w(y), vec![4]],
    );
    assert_eq!(
        i128::from(got[0]) | (i128::from(got[1]) << 64),
        wide(3, x, 1, 2, y, 4)
    );

    extern "C" fn add(a: __m128, b: __m128) -> __m128 {
        unsafe { _mm_add_ps(a, b) }
    }
    let f32_ = b.float(FloatKind::Float);
    let v4 = b.vec(f32_, 4);
    let plan = b.plan(&[v4, v4], v4, false);
    let pack = |v: [f32; 4]| slots(&v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
    let got = call(
        &plan,
        add as *const () as usize,
        &[pack([1., 2., 3., 4.]), pack([10., 20., 30., 40.])],
    );
    assert_eq!(got[..2], pack([11., 22., 33., 44.])[..]);

    extern "C" fn floats(a: f32, b: f64, c: f32) -> f32 {
        a + b as f32 * c
    }
    let f64_ = b.float(FloatKind::Double);
    let plan = b.plan(&[f32_, f64_, f32_], f32_, false);
    let got = call(
        &plan,
        floats as *const () as usize,
        &[
            vec![u64::from(1f32.to_bits())],
            vec![2f64.to_bits()],
            vec![u64::from(3f32.to_bits())],
        ],
    );
    assert_eq!(f32::from_bits(got[0] as u32), 7.0);
    let v16 = b.vec(f32_, 16);
    let e = CallPlan::new(
        &b.m,
        v16,
        &[(v16, ParamAttrs::default())],
        (v16, &ParamAttrs::default()),
        false,
    );
    assert!(e.unwrap_err().contains("512 bits"));
}

#[test]
fn vectors_of_256_bits_go_to_whole_registers() {
    #[target_feature(enable = "avx")]
    extern "C" fn add(a: __m256, x: f32, b: __m256) -> __m256 {
        _mm256_add_ps(_mm256_mul_ps(a, _mm256_set1_ps(x)), b)
    }
    if !std::arch::is_x86_feature_detected!("avx") {
        return;
    }
    let mut b = Build::default();
    let f32_ = b.float(FloatKind::Float);
    let v8 = b.vec(f32_, 8);
    let plan = b.plan(&[v8, f32_, v8], v8, false);
    let pack = |v: [f32; 8]| slots(&v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
    let numbers = [1., 2., 3., 4., 5., 6., 7., 8.];
    let got = call(
        &plan,
        add as *const () as usize,
        &[
            pack(numbers),
            vec![u64::from(2f32.to_bits())],
            pack(numbers.map(|n| n * 10.)),
        ],
    );
    assert_eq!(got[..4], pack(numbers.map(|n| n * 12.))[..]);
}

#[test]
fn byval_is_copied_and_sret_comes_back() {
    extern "C" fn f(n: i64, mut big: Big, d: f64) -> Big {
        for x in &mut big.a {
            *x = *x * n + d as i64;
        }
        big
    }
    let mut b = Build::default();
    let (p, i64_, f64_, void) = (b.ptr(), b.int(64), b.float(FloatKind::Double), b.void());
    let arr = b.array(i64_, 5);
    let ty = b.strct(&[arr]);
    let args = [
        (
            p,
            ParamAttrs {
                sret: Some(ty),
                ..Default::default()
            },
        ),
        (i64_, ParamAttrs::default()),
        (
            p,
            ParamAttrs {
                byval: Some(ty),
                align: 8,
                ..Default::default()
            },
        ),
        (f64_, ParamAttrs::default()),
    ];
    let plan = CallPlan::new(&b.m, void, &args, (void, &ParamAttrs::default()), false).unwrap();
    let big = Big { a: [1, 2, 3, 4, 5] };
    let mut out = Big { a: [0; 5] };
    call(
        &plan,
        f as *const () as usize,
        &[
            vec![&raw mut out as u64],
            vec![10],
            vec![&raw const big as u64],
            vec![7.0f64.to_bits()],
        ],
    );
    assert_eq!(out.a, [17, 27, 37, 47, 57]);
    assert_eq!(big.a, [1, 2, 3, 4, 5]);
}
