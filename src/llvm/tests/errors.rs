//! Tests of unusable files: one sentence each, with the file's name, and never a crash.

use super::*;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;

fn error(bytes: &[u8]) -> String {
    match read(&[input("bad.bc", bytes)]) {
        Ok(_) => panic!("must not be read"),
        Err(error) => error.to_string(),
    }
}

/// Returns bitcode of a small module.
fn bitcode() -> Vec<u8> {
    let text = format!("{}\0", instructions::ALL);
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "small");
    let module = context.create_module_from_ir(buffer).expect("valid");
    module.write_bitcode_to_memory().as_slice().to_vec()
}

#[test]
fn bitcode_and_its_wrapper_are_read() {
    let mut plain = bitcode();
    while !plain.len().is_multiple_of(4) {
        plain.pop();
    }
    let from_plain = read(&[input("a.bc", &plain)]).expect("bitcode");
    let words = [0x0B17_C0DEu32, 0, 20, plain.len() as u32, 0x0100_0007];
    let mut wrapped: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    wrapped.extend(&plain);
    let from_wrapper = read(&[input("a.bc", &wrapped)]).expect("wrapped bitcode");
    assert_eq!(from_plain.to_string(), from_wrapper.to_string());
    assert_eq!(
        from_plain.to_string(),
        module(instructions::ALL).to_string()
    );
}

#[test]
fn wrong_kinds_of_file() {
    assert_eq!(error(b""), "bad.bc: the file is empty");
    assert!(error(b"\x7fELF\x02\x01\x01\0").contains("native ELF file"));
    assert!(error(b"!<arch>\n/ 0").contains("an archive"));
    assert!(error(b"\0\x01\x02\xff\xfe").contains("neither LLVM bitcode nor textual LLVM IR"));
    assert!(
        error(b"#include <stdio.h>\nint main(void) { return 0; }\n")
            .contains("not valid textual LLVM IR")
    );
    assert!(error(b"BC\xC0\xDE").contains("damaged or truncated LLVM bitcode"));
    assert!(error(b"\xDE\xC0\x17\x0B\0\0").contains("damaged or truncated LLVM bitcode"));
    assert!(matches!(read(&[]), Err(Error::Input { .. })));
}

#[test]
fn text_errors_name_the_location() {
    assert_eq!(
        error(b"define i32 @f() {\n  ret i64 0\n}\n"),
        "bad.bc: not valid textual LLVM IR at line 2, column 7: value doesn't match function \
         result type 'i32'"
    );
    let invalid =
        error(b"define i32 @f() {\n  %a = add i32 %b, 1\n  %b = add i32 %a, 1\n  ret i32 %b\n}\n");
    assert!(
        invalid.contains("not valid LLVM IR: Instruction does not dominate all uses!"),
        "{invalid}"
    );
    assert_eq!(invalid.lines().count(), 1);
}

#[test]
fn other_targets() {
    let for_target = |triple: &str, layout: &str| {
        let text = format!("target datalayout = \"{layout}\"\ntarget triple = \"{triple}\"\n");
        read_text(&text).map(|_| ()).map_err(|e| e.to_string())
    };
    let arm = for_target(
        "aarch64-unknown-linux-gnu",
        "e-m:e-i64:64-i128:128-n32:64-S128",
    );
    assert!(
        arm.as_ref()
            .is_err_and(|e| e.contains("compiled for aarch64-unknown-linux-gnu")),
        "{arm:?}"
    );
    for bad in [
        "x86_64-pc-windows-msvc",
        "i686-linux-gnu",
        "x86_64-linux-gnux32",
        "nvptx64-nvidia-cuda",
        "x86_64-apple-darwin",
    ] {
        assert!(for_target(bad, "").is_err(), "{bad}");
    }
    let old = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128";
    let new = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";
    assert_eq!(for_target("x86_64-pc-linux-gnu", old), Ok(()));
    assert_eq!(for_target("x86_64-unknown-linux-musl", new), Ok(()));
    assert_eq!(for_target("", ""), Ok(()));
    let odd = for_target("x86_64-pc-linux-gnu", "E-m:e-i64:64-f80:128");
    assert!(odd.is_err_and(|e| e.contains("data layout")));
    let small = for_target("x86_64-pc-linux-gnu", "e-m:e-p:32:32-i64:64-f80:128");
    assert!(small.is_err_and(|e| e.contains("data layout")));
}

#[test]
fn duplicate_symbols_name_both_files() {
    let a = input("a.ll", b"define void @f() {\n ret void\n}\n");
    let b = input("b.ll", b"define void @f() {\n ret void\n}\n");
    let Err(error) = read(&[a, b]) else {
        panic!("must not link");
    };
    assert_eq!(
        error.to_string(),
        "b.ll: symbol `f` is also defined in a.ll"
    );
    let a = input("a.ll", b"@x = global i32 1\n");
    let b = input("b.ll", b"@y = global i32 1\n@x = global i32 1\n");
    assert!(read(&[a, b]).is_err_and(|e| e.to_string().contains("symbol `x`")));
}

#[test]
fn truncation_is_an_error() {
    let whole = bitcode();
    for length in (1..whole.len() / 2).step_by(97) {
        let text = error(&whole[..length]);
        assert!(text.starts_with("bad.bc: "), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

/// The process survives any wrong bit, and any error is one sentence.
#[test]
fn flipped_bits_do_not_crash() {
    let whole = bitcode();
    let mut position = 7;
    while position < whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[position / 8] ^= 1 << (position % 8);
        if let Err(error) = read(&[input("bad.bc", &damaged)]) {
            assert!(error.to_string().starts_with("bad.bc: "), "{error}");
        }
        position += 211;
    }
}

#[test]
fn reads_can_run_concurrently() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(module(instructions::ALL).functions.len(), 3);
                    assert!(read_text("define").is_err());
                }
            });
        }
    });
}

/// The parser recurses. This depth exceeds any stack, and only the reader's thread fails.
#[test]
fn unbounded_nesting_is_an_error() {
    let depth = 2_000_000;
    let text = format!("@g = global {}i8", "[1 x ".repeat(depth));
    let text = error(text.as_bytes());
    assert!(text.contains("LLVM crashed on it"), "{text}");
    assert_eq!(module(instructions::ALL).functions.len(), 3);
}

#[test]
fn invalid_assembly_is_one_sentence_with_the_line() {
    let text = "target triple = \"x86_64-pc-linux-gnu\"\n\
        module asm \".globl f\"\nmodule asm \"f:\"\nmodule asm \"  frobnicate %eax\"\n";
    let cause = error(text.as_bytes());
    assert!(cause.contains("assembly outside of functions"), "{cause}");
    assert!(cause.contains("<inline asm>:3:"), "{cause}");
    assert!(cause.contains("frobnicate"), "{cause}");
}

#[test]
fn naked_functions_become_assembly() {
    let text = "target triple = \"x86_64-pc-linux-gnu\"\n\
        define i32 @f(i32 %x) naked {\n\
        call void asm sideeffect \"leal 1(%rdi), %eax\\0A\\09ret\", \"\"()\nunreachable\n}\n\
        define internal void @\"odd name\"() naked {\n\
        call void asm sideeffect \"movl $$3, %eax\", \"\"()\n\
        call void asm sideeffect inteldialect \"ret\", \"\"()\nunreachable\n}\n\
        define void @g() naked {\n\
        call void asm sideeffect \"movl $0, %eax\", \"i\"(i32 5)\nunreachable\n}\n";
    let module = read(&[input("a.ll", text.as_bytes())]).expect("valid");
    assert!(module.module_asm.contains("movl $3, %eax"));
    assert!(!module.assembly.is_empty());
    let bodies: Vec<bool> = module
        .functions
        .values()
        .map(|f| f.body.is_some())
        .collect();
    assert_eq!(bodies, [false, false, true], "one has an operand");
}
