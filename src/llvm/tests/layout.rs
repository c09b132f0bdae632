//! Tests of `ir`'s type layout against LLVM's own, for the data layout of clang 22.

use super::*;
use std::ffi::CString;

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
    let text = CString::new(LAYOUT).expect("no zero byte");
    let data = llvm!(target::LLVMCreateTargetData(text.as_ptr()));
    let context = llvm!(core::LLVMContextCreate());
    for (index, ty) in TYPES.iter().enumerate() {
        let source =
            format!("target datalayout = \"{LAYOUT}\"\n@g{index} = external global {ty}\n");
        let ours = module(&source);
        let id = ours.globals.values().next().expect("g").ty;
        let layout = ours.layout(id);

        let name = c"layout".as_ptr();
        let bytes = source.as_bytes();
        let (start, len) = (bytes.as_ptr().cast(), bytes.len());
        let buffer = llvm!(core::LLVMCreateMemoryBufferWithMemoryRangeCopy(
            start, len, name
        ));
        let (mut parsed, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        let failed = llvm!(ir_reader::LLVMParseIRInContext2(
            context,
            buffer,
            &mut parsed,
            &mut message
        ));
        assert_eq!(failed, 0, "{ty}");
        let global = llvm!(core::LLVMGetFirstGlobal(parsed));
        let theirs = llvm!(core::LLVMGlobalGetValueType(global));
        assert_eq!(
            layout.store,
            llvm!(target::LLVMStoreSizeOfType(data, theirs)),
            "store size of {ty}"
        );
        assert_eq!(
            layout.size,
            llvm!(target::LLVMABISizeOfType(data, theirs)),
            "size of {ty}"
        );
        let align = llvm!(target::LLVMABIAlignmentOfType(data, theirs));
        assert_eq!(layout.align, u64::from(align), "alignment of {ty}");
        if let ompvm_ir::Type::Struct { fields, .. } = &ours.types[id] {
            for field in 0..fields.len() {
                let offset = llvm!(target::LLVMOffsetOfElement(data, theirs, field as u32));
                assert_eq!(
                    ours.types.field_offset(id, field),
                    offset,
                    "field {field} of {ty}"
                );
            }
        }
        llvm!(core::LLVMDisposeMemoryBuffer(buffer));
        llvm!(core::LLVMDisposeModule(parsed));
    }
    llvm!(core::LLVMContextDispose(context));
    llvm!(target::LLVMDisposeTargetData(data));
}
