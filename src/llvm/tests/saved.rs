//! Tests that a saved and loaded module prints as the original.

use super::*;
use ompvm_ir::serialized::{load, save};
use ompvm_ir::visit::Uses;

pub(super) const SYMBOLS: &str = r#"
@g = global { i32, [3 x i16], ptr } { i32 7, [3 x i16] [i16 1, i16 -2, i16 3], ptr @f }, align 16
@text = private unnamed_addr constant [6 x i8] c"hello\00", section "strings"
@t = thread_local global i128 -1
@weak = extern_weak global i8
@other = alias i32, getelementptr (i8, ptr @g, i64 4)
@chosen = ifunc i32 (i32), ptr @resolver
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @start, ptr null }]
define internal void @start() { ret void }
define ptr @resolver() { ret ptr @f }
declare i32 @puts(ptr nocapture) nounwind
define i32 @f(i32 signext %x) !dbg !3 {
  %1 = call i32 @puts(ptr @text), !dbg !5
  %2 = add nsw i32 %x, %1, !dbg !5
  ret i32 %2
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!6}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/d")
!2 = !DISubroutineType(types: !4)
!3 = distinct !DISubprogram(name: "f", file: !1, line: 4, type: !2, unit: !0, spFlags: DISPFlagDefinition)
!4 = !{}
!5 = !DILocation(line: 5, column: 2, scope: !3)
!6 = !{i32 2, !"Debug Info Version", i32 3}
"#;

fn again(read: &Module) -> Module {
    let uses = Uses::of(read).symbols.into_keys().collect();
    let bytes = save(read, uses).unwrap_or_else(|e| panic!("{e}"));
    let mut loaded = load(bytes).unwrap_or_else(|| panic!("it does not load"));
    loaded.name = read.name.clone();
    loaded
}

#[test]
fn saved_modules_load_unchanged() {
    for text in [SYMBOLS, instructions::ALL] {
        let read = module(text);
        let loaded = again(&read);
        assert_eq!(loaded.to_string(), read.to_string());
        assert_eq!(loaded.symbols, read.symbols);
        assert_eq!(loaded.consts.len(), read.consts.len());
        for (id, c) in &read.consts {
            assert_eq!(&loaded.consts[id], c);
            assert_eq!(loaded.const_type(id), read.const_type(id));
        }
        for (id, f) in &read.functions {
            let other = &loaded.functions[id];
            assert_eq!(other.scope, f.scope);
            let size = |f: &ompvm_ir::Function| f.body.as_ref().map(|b| b.size());
            // Of the saved body it is read ahead of the instructions.
            assert_eq!(size(other), size(f));
            let insts = |f: &ompvm_ir::Function| f.body.as_ref().map(|b| b.insts.clone());
            assert_eq!(insts(other), insts(f));
            assert_eq!(size(other), size(f));
        }
        assert_eq!(
            loaded.debug.locs.values().as_slice(),
            read.debug.locs.values().as_slice()
        );
        assert_eq!(
            loaded.debug.scopes.values().as_slice(),
            read.debug.scopes.values().as_slice()
        );
        assert_eq!(
            loaded.debug.files.values().as_slice(),
            read.debug.files.values().as_slice()
        );
    }
}

#[test]
fn damaged_modules_are_refused() {
    let read = module(SYMBOLS);
    let uses = Uses::of(&read).symbols.into_keys().collect();
    let bytes = save(&read, uses).unwrap_or_else(|e| panic!("{e}"));
    for len in 0..200 {
        assert!(load(bytes[..len].to_vec()).is_none(), "{len}");
    }
    assert!(load(vec![0xff; 64]).is_none());
}
