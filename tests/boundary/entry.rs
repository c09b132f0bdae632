//! Calls from native code to guest functions, whose bodies a hook imitates.
//!
//! `unwinding` and `faults` test exits other than a return.

use crate::build::{Big, Build, call, sym};
use crate::unwinding::raise;
use ompvm::ir::*;
use ompvm::memory::abi::{NativeFrame, set_entry_hook};
use ompvm::memory::activation::{self, Search};
use ompvm::memory::func::{self, FuncRef};
use ompvm::memory::image::{Image, PlaceOptions};
use std::ffi::c_void;
use std::sync::{Arc, Once};

/// Imitates the interpreter: reads the arguments by plan and acts by the function's name.
extern "C-unwind" fn entry(f: &FuncRef, frame: &mut NativeFrame) {
    let module = &f.image().module;
    let name = &*module.functions[f.id].name;
    let plan = f.plan().unwrap();
    let (_, params, _) = module.functions[f.id].signature(module);
    let mut args = vec![[0u64; 4]; params.len()];
    let dst: Vec<_> = args.iter_mut().map(|a| a.as_mut_ptr()).collect();
    unsafe { plan.read_args(frame, &dst) };
    let mut ret = [0u64; 4];
    match name {
        "compare" => unsafe {
            let (a, b) = (*(args[0][0] as *const i32), *(args[1][0] as *const i32));
            ret[0] = u64::from((i32::from(a > b) - i32::from(a < b)) as u32);
        },
        "mixed" => {
            // i128 + i64 + sum of byval + double + x86_fp80's mantissa: returns { i64, double }
            let big = unsafe { *(args[2][0] as *const Big) };
            ret[0] = args[0][0] + args[1][0] + big.a.iter().sum::<i64>() as u64;
            ret[1] = (f64::from_bits(args[3][0]) + 0.5).to_bits();
        }
        "many" => {
            for (i, a) in args.iter().enumerate() {
                ret[0] = ret[0].wrapping_add((i as u64 + 1) * a[0]);
            }
        }
        "half_long" => {
            // long double: decrements the exponent
            ret[0] = args[0][0];
            ret[1] = args[0][1] - 1;
        }
        "throw" => unsafe { raise(args[0][0]) },
        other => panic!("no such test function: {other}"),
    }
    unsafe { plan.write_ret(frame, ret.as_ptr()) };
}

/// Installs the hooks that imitate the interpreter.
pub fn hooks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_entry_hook(entry);
        activation::set_search_hook(|act, _| {
            if act.interp[0] == 1 {
                Search::Handler
            } else {
                Search::Cleanup
            }
        });
    });
}

/// Places the built module in memory.
pub fn place(b: Build) -> Arc<Image> {
    Image::place(Arc::new(b.m), PlaceOptions::default(), &mut |_, _| None).unwrap()
}

#[test]
fn native_code_calls_guest_functions() {
    hooks();
    let mut b = Build::default();
    let (p, i32_, i64_, i128_, f64_) = (
        b.ptr(),
        b.int(32),
        b.int(64),
        b.int(128),
        b.float(FloatKind::Double),
    );
    let f80 = b.float(FloatKind::X86Fp80);
    let compare = b.function("compare", i32_, &[p, p], true);
    let ret = b.strct(&[i64_, f64_]);
    let mixed = b.function("mixed", ret, &[i128_, i64_, p, f64_], true);
    let arr = b.array(i64_, 5);
    let big = b.strct(&[arr]);
    b.m.functions[mixed].params[2].byval = Some(big);
    let many = b.function("many", i64_, &[i64_; 11], true);
    let half = b.function("half_long", f80, &[f80], true);
    let image = place(b);

    let mut v: Vec<i32> = (0..1000).map(|i| (i * 7919) % 1009).collect();
    let address = image.func_address(compare);
    unsafe {
        let f: unsafe extern "C" fn(*const c_void, *const c_void) -> i32 =
            std::mem::transmute(address);
        libc::qsort(v.as_mut_ptr().cast(), v.len(), 4, Some(f));
    }
    assert!(v.is_sorted());

    #[repr(C)]
    struct Pair(i64, f64);
    let f: extern "C" fn(i128, i64, Big, f64) -> Pair =
        unsafe { std::mem::transmute(image.func_address(mixed)) };
    let got = f(5, 6, Big { a: [1, 2, 3, 4, 5] }, 2.25);
    assert_eq!((got.0, got.1), (26, 2.75));

    type Many = extern "C" fn(i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> i64;
    let f: Many = unsafe { std::mem::transmute(image.func_address(many)) };
    assert_eq!(f(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 66);

    // Also through a plan: guest to native to guest.
    let b2 = {
        let mut b = Build::default();
        let f80 = b.float(FloatKind::X86Fp80);
        (b.plan(&[f80], f80, false), b)
    };
    let got = call(
        &b2.0,
        image.func_address(half),
        &[vec![0xc800_0000_0000_0000, 0x4001]],
    );
    assert_eq!(got[..2], [0xc800_0000_0000_0000, 0x4000]);

    // Addresses are known as long as the image lives.
    assert_eq!(func::from_address(address).map(|f| f.id), Some(compare));
    assert!(func::from_address(address + 8).is_none());
    assert!(func::from_address(sym("qsort")).is_none());
    drop(image);
    assert!(func::from_address(address).is_none());
}
