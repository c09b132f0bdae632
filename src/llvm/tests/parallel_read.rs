//! Tests that parallel reading gives the same module as reading on one thread.

use super::*;
use crate::handles::{OwnedContext, OwnedModule};
use crate::parallel_read::read as read_by;
use ompvm_ir::LocId;

/// Converts textual IR to a bitcode file.
pub(super) fn bitcode(text: &str) -> Input {
    let bytes =
        parse::merge(&[input("test.ll", text.as_bytes())]).unwrap_or_else(|e| panic!("{e}"));
    input("test.bc", &bytes)
}

/// Returns file, line, column and function of a location and of the inlined calls around it.
fn place(module: &Module, mut loc: Option<LocId>) -> Vec<String> {
    let mut out = Vec::new();
    while let Some(id) = loc {
        let l = &module.debug.locs[id];
        let scope = &module.debug.scopes[l.scope];
        let of = &module.debug.files[scope.file].name;
        let at = module.debug.describe(id);
        out.push(format!("{at} in {} of {of}:{}", scope.name, scope.line));
        loc = l.inlined_at;
    }
    out
}

fn same(one: &Module, several: &Module) {
    assert_eq!(one.to_string(), several.to_string());
    assert_eq!(one.symbols, several.symbols);
    assert_eq!(one.contracted, several.contracted);
    assert_eq!(one.name, several.name);
    for (id, f) in &one.functions {
        let other = &several.functions[id];
        assert_eq!(f.name, other.name);
        let scope =
            |m: &Module, f: &ompvm_ir::Function| f.scope.map(|s| m.debug.scopes[s].clone().name);
        assert_eq!(scope(one, f), scope(several, other));
        let (Some(body), Some(copied)) = (&f.body, &other.body) else {
            assert!(f.body.is_none() && other.body.is_none());
            continue;
        };
        for (a, b) in body.insts.iter().zip(&copied.insts) {
            assert_eq!(place(one, a.loc), place(several, b.loc));
        }
    }
    for (id, g) in &one.globals {
        assert_eq!(place(one, g.loc), place(several, several.globals[id].loc));
    }
}

const MANY: &str = r#"
@table = constant [2 x ptr] [ptr blockaddress(@jumps, %b), ptr blockaddress(@jumps, %c)]
@g = global i32 5, !dbg !20
define i32 @jumps(i32 %x) {
  %p = getelementptr [2 x ptr], ptr @table, i32 0, i32 %x
  %l = load ptr, ptr %p
  indirectbr ptr %l, [label %b, label %c]
b:
  ret i32 1
c:
  ret i32 2
}
define internal double @sum(ptr %a, i64 %n) !dbg !3 {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %s = phi double [ 0.0, %0 ], [ %t, %loop ]
  %p = getelementptr double, ptr %a, i64 %i
  %x = load double, ptr %p
  %y = call double @llvm.fmuladd.f64(double %x, double 2.0, double 1.0), !dbg !5
  %t = call double @llvm.fmuladd.f64(double %x, double %y, double %s), !dbg !5
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret double %t
}
define double @twice(ptr %a) !dbg !6 {
  %1 = call double @sum(ptr %a, i64 7), !dbg !7
  %2 = call double @sum(ptr %a, i64 9), !dbg !8
  %3 = call double @llvm.fmuladd.f64(double %1, double %2, double 0.5)
  ret double %3
}
define ptr @third() { ret ptr blockaddress(@jumps, %b) }
define void @fourth() personality ptr @how {
  %r = invoke ptr @third() to label %done unwind label %pad
done:
  ret void
pad:
  %l = landingpad { ptr, i32 } cleanup catch ptr null
  ret void
}
declare i32 @how(...)
declare double @llvm.fmuladd.f64(double, double, double)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!9}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug, globals: !{!20})
!1 = !DIFile(filename: "a.c", directory: "/d")
!2 = !DISubroutineType(types: !4)
!3 = distinct !DISubprogram(file: !1, line: 4, type: !2, unit: !0, spFlags: DISPFlagDefinition)
!4 = !{}
!5 = !DILocation(line: 5, column: 2, scope: !3)
!6 = distinct !DISubprogram(name: "twice", file: !1, line: 14, type: !2, unit: !0, spFlags: DISPFlagDefinition)
!7 = !DILocation(line: 15, column: 2, scope: !6)
!8 = !DILocation(line: 6, column: 2, scope: !3, inlinedAt: !7)
!9 = !{i32 2, !"Debug Info Version", i32 3}
!20 = !DIGlobalVariableExpression(var: !21, expr: !DIExpression())
!21 = distinct !DIGlobalVariable(name: "g", scope: !0, file: !1, line: 2, type: !22, isLocal: false, isDefinition: true)
!22 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
"#;

#[test]
fn parallel_reading_gives_the_same_module() {
    for text in [MANY, saved::SYMBOLS, instructions::ALL] {
        let file = bitcode(text);
        for contract in [false, true] {
            let one =
                one(std::slice::from_ref(&file), contract, false).unwrap_or_else(|e| panic!("{e}"));
            for threads in 1..5 {
                let several = read_by(&file, contract, threads).expect("nothing odd");
                same(&one, &several);
            }
        }
    }
}

/// flang's calls of internal procedures lack attributes that the procedures have.
const INCOMPLETE_CALLS: &str = r#"
target triple = "x86_64-pc-linux-gnu"
define internal void @inner(ptr %a, ptr nest %outer, i8 zeroext %b) {
  store i8 %b, ptr %outer
  ret void
}
define i32 @main() {
  %x = alloca i8
  call void @inner(ptr null, ptr %x, i8 3)
  ret i32 0
}
"#;

#[test]
fn parallel_reading_completes_calls() {
    let context = OwnedContext::new();
    let text = INCOMPLETE_CALLS.as_bytes();
    let module = OwnedModule::parse_ir(context.context(), text, c"text", true).expect("valid IR");
    let file = input("test.bc", &module.module().bitcode());
    let one = one(std::slice::from_ref(&file), false, false).unwrap_or_else(|e| panic!("{e}"));
    for threads in 1..4 {
        same(&one, &read_by(&file, false, threads).expect("nothing odd"));
    }
}

#[test]
fn unusual_files_are_left_to_one_thread() {
    let file = bitcode(MANY);
    assert!(read_by(&file, false, 3).is_some());
    for at in (0..file.bytes.len()).step_by(7) {
        // Damage has the same result either way.
        let mut damaged = file.clone();
        damaged.bytes[at] ^= 1 << (at % 8);
        let Ok(one) = one(std::slice::from_ref(&damaged), false, false) else {
            continue;
        };
        if let Some(several) = read_by(&damaged, false, 3) {
            same(&one, &several);
        }
    }
    let mut cut = file.clone();
    cut.bytes.truncate((file.bytes.len() / 2) & !3);
    assert!(read_by(&cut, false, 3).is_none());
}
