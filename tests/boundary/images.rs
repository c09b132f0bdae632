//! Images: constants, relocations, thread-local variables, symbols.
//!
//! `entry` calls functions.

use crate::build::{Build, sym};
use ompvm::ir::*;
use ompvm::memory::image::{Image, PlaceOptions};
use std::sync::Arc;

#[test]
fn constants_are_placed_with_their_relocations() {
    let mut b = Build::default();
    let (p, i32_, i8_, i64_) = (b.ptr(), b.int(32), b.int(8), b.int(64));
    let f = b.function("compare", i32_, &[p, p], true);
    let body = Body {
        blocks: vec![Block { start: 0, end: 0 }; 4],
        ..Body::default()
    };
    b.m.functions[f].body = Some(body.into());
    let arr = b.array(i8_, 6);
    let text = b.konst(arr, Const::Data((*b"hello\0").into()));
    let hello = b.global("hello", arr, Some(text));
    b.m.globals[hello].constant = true;
    let s = b.strct(&[i8_, p, i32_, p, i64_]);
    let items = {
        let seven = b.konst(i8_, Const::Int(7));
        let base = b.konst(p, Const::Global(GlobalRef::Var(hello)));
        let two = b.konst(i64_, Const::Int(2));
        let zero = b.konst(i64_, Const::Int(0));
        let gep = b.konst(
            p,
            Const::Expr(ConstExpr::Gep {
                elem: arr,
                base,
                indices: [zero, two].into(),
            }),
        );
        let minus = b.konst(i32_, Const::Int(0xffff_ffff));
        let fp = b.konst(p, Const::Global(GlobalRef::Func(f)));
        let ints =
            [gep, base].map(|c| b.konst(i64_, Const::Expr(ConstExpr::Cast(CastOp::PtrToInt, c))));
        let diff = b.konst(
            i64_,
            Const::Expr(ConstExpr::Binary(BinOp::Sub, ints[0], ints[1])),
        );
        [seven, gep, minus, fp, diff]
    };
    let init = b.konst(s, Const::Aggregate(items.into()));
    let var = b.global("var", s, Some(init));
    let zero = b.konst(arr, Const::Zero);
    let bss = b.global("bss", arr, Some(zero));
    let five = b.konst(i32_, Const::Int(5));
    let tls = b.global("tls", i32_, Some(five));
    b.m.globals[tls].thread_local = true;
    let env = b.global("environ", p, None);
    let missing = b.global("weak_one", p, None);
    b.m.globals[missing].linkage = Linkage::ExternWeak;
    let native = b.function("getpid", i32_, &[], false);
    let v3 = b.vec(i8_, 3);
    let bools = {
        let i1 = b.int(1);
        b.vec(i1, 4)
    };
    let lanes = b.konst(v3, Const::Data([1, 2, 3].into()));
    let i1 = b.int(1);
    let (t, z) = (b.konst(i1, Const::Int(1)), b.konst(i1, Const::Int(0)));
    let mask = b.konst(bools, Const::Aggregate([t, z, t, t].into()));
    let block = b.konst(p, Const::BlockAddress(f, BlockId::from_u32(3)));
    let image = Image::place(
        Arc::new(b.m),
        PlaceOptions::default(),
        &mut |name, _| match name {
            "environ" | "getpid" => Some(sym(name)),
            _ => None,
        },
    )
    .unwrap();

    let at = image.global_address(var);
    assert_eq!(at % 8, 0);
    unsafe {
        assert_eq!(*(at as *const u8), 7);
        assert_eq!(
            std::ffi::CStr::from_ptr(*((at + 8) as *const *const i8)).to_str(),
            Ok("llo")
        );
        assert_eq!(*((at + 16) as *const i32), -1);
        assert_eq!(*((at + 24) as *const usize), image.func_address(f));
        assert_eq!(*((at + 32) as *const i64), 2);
        assert_eq!(*(image.global_address(bss) as *const [u8; 6]), [0; 6]);
    }
    assert_eq!(image.global_address(env), sym("environ"));
    assert_eq!(image.global_address(missing), 0);
    assert_eq!(image.func_address(native), sym("getpid"));
    let here = image.tls_address(tls);
    let image2 = image.clone();
    let there = std::thread::spawn(move || {
        let p = image2.tls_address(tls);
        unsafe {
            *(p as *mut i32) += 1;
            *(p as *const i32) + if p == here { 100 } else { 0 }
        }
    });
    assert_eq!(there.join().unwrap(), 6);
    assert_eq!(unsafe { *(here as *const i32) }, 5);
    let mut out = [0u64; 1];
    image.const_to_slots(lanes, &mut out);
    assert_eq!(out, [0x03_02_01]);
    image.const_to_slots(mask, &mut out);
    assert_eq!(out, [0x01_01_00_01]);
    let mut byte = [0u8; 1];
    image.const_to_memory(mask, &mut byte);
    assert_eq!(byte, [0b1101]);
    let address = image.eval(block) as usize;
    assert_eq!(
        image.code_addresses.label_at(address),
        Some((f, BlockId::from_u32(3)))
    );
}

#[test]
fn all_unresolved_symbols_are_named_at_once() {
    let mut b = Build::default();
    let (p, i32_) = (b.ptr(), b.int(32));
    b.function("no_such_function", i32_, &[p], false);
    b.global("no_such_variable", p, None);
    let e = Image::place(Arc::new(b.m), PlaceOptions::default(), &mut |_, _| None).unwrap_err();
    assert_eq!(
        e.to_string(),
        "unresolved symbols: no_such_function, no_such_variable\n  \
         (`-l NAME` and `-L DIR` name libraries, `--with FILE` further files of the program)"
    );
}
