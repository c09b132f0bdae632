//! Tests of `ir`'s type layout against LLVM's own, for the data layout of clang 22.

use super::*;
use crate::handles::{OwnedContext, OwnedModule};

const LAYOUT: &str =
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";

const TYPES: &[&str] = &[
    "i1",
    "i7",
    "i8",
    "i16",
    "i17",
    "i24",
    "i32",
    "i33",
    "i64",
    "i65",
    "i96",
    "i128",
    "i129",
    "i256",
    "half",
    "bfloat",
    "float",
    "double",
    "x86_fp80",
    "fp128",
    "ptr",
    "<1 x i8>",
    "<3 x i8>",
    "<8 x i1>",
    "<9 x i1>",
    "<3 x i32>",
    "<4 x float>",
    "<8 x double>",
    "<3 x ptr>",
    "<2 x x86_fp80>",
    "<5 x i24>",
    "<16 x i128>",
    "[0 x i32]",
    "[3 x i16]",
    "[7 x x86_fp80]",
    "[2 x <3 x float>]",
    "[5 x { i8, i16 }]",
    "{}",
    "{ i8 }",
    "{ i8, i32 }",
    "{ i8, ptr, i8 }",
    "{ i64, i8 }",
    "{ i8, i128, i8 }",
    "{ i8, x86_fp80, i16, double }",
    "{ i1, <4 x i32>, i24, i8 }",
    "{ i32, [3 x { i8, double }] }",
    "<{ i8, i32 }>",
    "<{ i8, x86_fp80, i16 }>",
    "{ i8, <{ i16, ptr }>, i8 }",
    "{ i8, [0 x i64] }",
];

#[test]
fn agrees_with_llvm() {
    let context = OwnedContext::new();
    for (index, ty) in TYPES.iter().enumerate() {
        let source =
            format!("target datalayout = \"{LAYOUT}\"\n@g{index} = external global {ty}\n");
        let ours = module(&source);
        let id = ours.globals.values().next().expect("g").ty;
        let layout = ours.layout(id);

        let parsed = OwnedModule::parse_ir(context.context(), source.as_bytes(), c"layout", true);
        let parsed = parsed.expect(ty);
        let data = parsed.module().layout();
        let global = parsed.module().variables().next().expect("g");
        let theirs = global.contents();
        assert_eq!(layout.store, data.stored(theirs), "store size of {ty}");
        assert_eq!(layout.size, data.size(theirs), "size of {ty}");
        let align = data.alignment(theirs);
        assert_eq!(layout.align, u64::from(align), "alignment of {ty}");
        if let ompvm_ir::Type::Struct { fields, .. } = &ours.types[id] {
            for field in 0..fields.len() {
                assert_eq!(
                    ours.types.field_offset(id, field),
                    data.offset(theirs, field as u32),
                    "field {field} of {ty}"
                );
            }
        }
    }
}
