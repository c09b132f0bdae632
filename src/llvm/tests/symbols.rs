//! Tests of constants, symbols, linking and source locations.

use super::*;
use ompvm_ir::{GlobalRef, Linkage};

#[test]
fn integers_of_every_width() {
    assert_eq!(constant("@g = global i1 true"), "i1 1");
    assert_eq!(constant("@g = global i7 -3"), "i7 -3");
    assert_eq!(constant("@g = global i64 -1"), "i64 -1");
    assert_eq!(
        constant("@g = global i128 -170141183460469231731687303715884105728"),
        "i128 -170141183460469231731687303715884105728"
    );
    assert_eq!(
        constant("@g = global i128 24197857203266734864793317670504947440"),
        "i128 24197857203266734864793317670504947440"
    );
    assert_eq!(constant("@g = global i65 -2"), "i65 -2");
    assert_eq!(
        constant("@g = global i200 u0x123456789abcdef0fedcba9876543210"),
        "i200 0x0000000000000000\
         0000000000000000123456789abcdef0fedcba9876543210"
    );
}

#[test]
fn floats_bit_for_bit() {
    assert_eq!(constant("@g = global double -0.0"), "double -0.0");
    assert_eq!(constant("@g = global float 1.5"), "float 1.5");
    assert_eq!(constant("@g = global half 0xH3C01"), "half 0x3c01");
    assert_eq!(constant("@g = global bfloat 0xR3F81"), "bfloat 0x3f81");
    assert_eq!(
        constant("@g = global x86_fp80 0xK3FFF8000000000000001"),
        "x86_fp80 0x3fff8000000000000001"
    );
    assert_eq!(
        constant("@g = global fp128 0xL00000000000000013FFF000000000000"),
        "fp128 0x3fff0000000000000000000000000001"
    );
    let m = module("@g = global double 0x7FF4000000000001");
    assert!(
        m.consts
            .values()
            .any(|c| *c == Const::Float(0x7FF4_0000_0000_0001)),
        "the payload of a signalling NaN is kept"
    );
}

#[test]
fn data_and_aggregates() {
    assert_eq!(
        constant("@g = global [3 x i8] c\"ab\\00\""),
        "[3 x i8] \"ab\\x00\""
    );
    assert_eq!(
        constant("@g = global <2 x i16> <i16 1, i16 -2>"),
        "<2 x i16> \"\\x01\\x00\\xfe\\xff\""
    );
    assert_eq!(
        constant("@g = global [1 x double] [double 1.0]"),
        "[1 x double] \"\\x00\\x00\\x00\\x00\\x00\\x00\\xf0?\""
    );
    assert_eq!(
        constant("@g = global [9 x i32] zeroinitializer"),
        "[9 x i32] zero"
    );
    assert_eq!(
        constant("@g = global <{ i8, ptr }> <{ i8 1, ptr @g }>"),
        "<{i8, ptr}> {i8 1, ptr @g}"
    );
    assert_eq!(constant("@g = global i32 undef"), "i32 undef");
    assert_eq!(
        constant("@g = global { i32, ptr } poison"),
        "{i32, ptr} poison"
    );
    assert_eq!(constant("@g = global ptr null"), "ptr null");
    assert_eq!(
        constant("@g = global <2 x i128> splat (i128 5)"),
        "<2 x i128> {i128 5, i128 5}"
    );
}

#[test]
fn expressions() {
    let a = "@a = external global [4 x i32]\n";
    assert_eq!(
        constant(&format!(
            "{a}@g = global ptr getelementptr inbounds ([4 x i32], ptr @a, i64 0, i64 2)"
        )),
        "ptr gep([4 x i32], ptr @a; i64 0, i64 2)"
    );
    assert_eq!(
        constant(&format!("{a}@g = global i32 ptrtoint (ptr @a to i32)")),
        "i32 PtrToInt(ptr @a)"
    );
    assert_eq!(
        constant(&format!(
            "{a}@g = global i32 trunc (i64 sub (i64 ptrtoint (ptr @a to i64), i64 ptrtoint (ptr @g \
             to i64)) to i32)"
        )),
        "i32 Trunc(i64 Sub(i64 PtrToInt(ptr @a), i64 PtrToInt(ptr @g)))"
    );
    assert_eq!(
        constant("@g = global ptr inttoptr (i64 16 to ptr)"),
        "ptr IntToPtr(i64 16)"
    );
    assert_eq!(
        constant("declare void @f()\n@g = global ptr dso_local_equivalent @f"),
        "ptr @f"
    );
    assert_eq!(
        constant("declare void @f()\n@g = global ptr no_cfi @f"),
        "ptr @f"
    );
    assert!(
        constant("@a = external global i32\n@g = global ptr ptrauth (ptr @a, i32 1)")
            .contains("unsupported")
    );
}

#[test]
fn a_large_table_is_bytes() {
    let mut text = String::from("@g = constant [100000 x i32] [");
    for i in 0..100_000 {
        text += &format!("{}i32 {}", if i > 0 { "," } else { "" }, i * 7);
    }
    text.push(']');
    let m = module(&text);
    assert_eq!(m.consts.len(), 1);
    let Some(Const::Data(bytes)) = m.consts.values().next() else {
        panic!("data");
    };
    assert_eq!(bytes.len(), 400_000);
    assert_eq!(bytes[399_996..], 699_993u32.to_le_bytes());
}

#[test]
fn globals() {
    let m = module(
        "@a = thread_local global i32 1, align 64\n@b = internal constant i8 2, section \".init\"\n\
         @c = external global ptr\n@d = extern_weak global i32\n\
         @e = common global [4 x i32] zeroinitializer, align 16\n\
         @f = weak_odr global i32 3\n@h = private unnamed_addr constant [2 x i8] c\"x\\00\"\n\
         @llvm.used = appending global [1 x ptr] [ptr @b], section \"llvm.metadata\"\n\
         $k = comdat any\n@k = linkonce_odr global i32 4, comdat\n",
    );
    let linkages: Vec<_> = m.globals.values().map(|g| g.linkage).collect();
    assert_eq!(
        linkages,
        [
            Linkage::External,
            Linkage::Internal,
            Linkage::External,
            Linkage::ExternWeak,
            Linkage::Common,
            Linkage::Weak,
            Linkage::Private,
            Linkage::LinkOnce,
        ]
    );
    let Some(GlobalRef::Var(a)) = m.symbol("a") else {
        panic!("a");
    };
    assert!(m.globals[a].thread_local && m.globals[a].align == 64);
    let Some(GlobalRef::Var(b)) = m.symbol("b") else {
        panic!("b");
    };
    assert_eq!(m.globals[b].section.as_deref(), Some(".init"));
    assert!(m.globals[b].constant);
    assert!(m.symbol("llvm.used").is_none());
}

#[test]
fn aliases_ifuncs_and_attributes() {
    let m = module(
        "@al = alias i32 (i32), ptr @f\n@w = weak alias i8, getelementptr (i8, ptr @v, i64 4)\n\
         @if = ifunc i32 (i32), ptr @resolve\n@v = global [8 x i8] zeroinitializer\n\
         define signext i32 @f(i32 zeroext %x) noinline nounwind {\n ret i32 %x\n}\n\
         define internal ptr @resolve() {\n ret ptr @f\n}\n\
         declare void @exit(i32) noreturn\ndeclare i32 @setjmp(ptr) returns_twice\n\
         define void @n() naked {\n unreachable\n}\n",
    );
    let text = m.to_string();
    for line in [
        "@al = External alias ptr @f",
        "@w = Weak alias ptr gep(i8, ptr @v; i64 4)",
        "@if = External ifunc ptr @resolve",
        "define External signext i32 @f(i32 zeroext) nounwind noinline",
        "declare External void @exit(i32) noreturn",
        "declare External i32 @setjmp(ptr) returns_twice",
        "define External void @n() naked",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} in\n{text}");
    }
    assert!(matches!(m.symbol("al"), Some(GlobalRef::Alias(_))));
    assert!(matches!(m.symbol("if"), Some(GlobalRef::IFunc(_))));
}

#[test]
fn constructors_in_sections() {
    let m = module(
        "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [\
         { i32, ptr, ptr } { i32 65535, ptr @table, ptr null }]\n\
         @v1 = global ptr @plain, section \".init_array\"\n\
         @v2 = global [2 x ptr] [ptr @old, ptr null], section \".ctors\"\n\
         @v3 = global ptr @c200, section \".init_array.200\"\n\
         @v4 = global ptr @c100, section \".ctors.65435\"\n\
         @v5 = global ptr @c0, section \".ctors.65535\"\n\
         @v6 = global ptr @pre, section \".preinit_array\"\n\
         @v7 = global ptr @other, section \".init_arrays\"\n\
         @v8 = global ptr @down, section \".fini_array\"\n\
         @v9 = global i64 5, section \".init_array\"\n\
         declare void @table()\ndeclare void @plain()\ndeclare void @old()\n\
         declare void @c200()\ndeclare void @c100()\ndeclare void @c0()\n\
         declare void @pre()\ndeclare void @other()\ndeclare void @down()\n",
    );
    let of = |list: &[ompvm_ir::Xtor]| -> Vec<(u32, String)> {
        let shown = |x: &ompvm_ir::Xtor| (x.priority, m.show_const(x.func).to_string());
        list.iter().map(shown).collect()
    };
    let named = |list: &[(u32, &str)]| -> Vec<(u32, String)> {
        list.iter()
            .map(|&(p, f)| (p, format!("ptr @{f}")))
            .collect()
    };
    let constructors = [
        (0, "pre"),
        (0, "c0"),
        (100, "c100"),
        (200, "c200"),
        (65535, "plain"),
        (65535, "old"),
        (65535, "table"),
    ];
    assert_eq!(of(&m.ctors), named(&constructors));
    assert_eq!(of(&m.dtors), named(&[(65535, "down")]));
}

#[test]
fn constructors_in_running_order() {
    let m = module(
        "@llvm.global_ctors = appending global [3 x { i32, ptr, ptr }] [\
         { i32, ptr, ptr } { i32 65535, ptr @a, ptr null }, \
         { i32, ptr, ptr } { i32 65535, ptr @b, ptr null }, \
         { i32, ptr, ptr } { i32 101, ptr @c, ptr null }]\n\
         @llvm.global_dtors = appending global [3 x { i32, ptr, ptr }] [\
         { i32, ptr, ptr } { i32 65535, ptr @a, ptr null }, \
         { i32, ptr, ptr } { i32 65535, ptr @b, ptr null }, \
         { i32, ptr, ptr } { i32 101, ptr @c, ptr null }]\n\
         declare void @a()\ndeclare void @b()\ndeclare void @c()\n\
         module asm \".globl x\"\n",
    );
    let names = |list: &[ompvm_ir::Xtor]| {
        list.iter()
            .map(|x| m.show_const(x.func).to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&m.ctors), ["ptr @c", "ptr @a", "ptr @b"]);
    assert_eq!(names(&m.dtors), ["ptr @b", "ptr @a", "ptr @c"]);
    assert_eq!(m.ctors[0].priority, 101);
    assert!(m.globals.is_empty());
    assert_eq!(m.module_asm.trim(), ".globl x");
}

#[test]
fn types() {
    let m = module(
        "%o = type opaque\n%n = type { i32, %m }\n%m = type <{ i8, [2 x i16] }>\n\
         define void @f(%n %a, <4 x ptr> %b, <vscale x 2 x i64> %c, ptr addrspace(3) %d, x86_fp80 \
         %e) {\n ret void\n}\n\
         @g = external global %o\n",
    );
    assert!(m.to_string().contains(
        "@f({i32, <{i8, [2 x i16]}>}, <4 x ptr>, <vscale x 2 x i64>, ptr addrspace(3), x86_fp80)"
    ));
    assert!(m.to_string().contains("global opaque"));
}

#[test]
fn several_files_become_one_module() {
    let main = input(
        "main.ll",
        b"declare i32 @f()\n@x = external global i32\n@s = internal global i32 1\n\
          define i32 @main() {\n %r = call i32 @f()\n ret i32 %r\n}\n",
    );
    let other = input(
        "other.ll",
        b"@x = global i32 5\n@s = internal global i32 2\n$c = comdat any\n\
          define linkonce_odr void @c() comdat {\n ret void\n}\n\
          define i32 @f() {\n %r = load i32, ptr @x\n store i32 %r, ptr @s\n call void \
          @c()\n ret i32 %r\n}\n",
    );
    let third = input(
        "third.ll",
        b"$c = comdat any\ndefine linkonce_odr void @c() comdat {\n ret void\n}\n\
          define void @d() {\n call void @c()\n ret void\n}\n",
    );
    let m = read(&[main, other, third]).expect("links");
    let Some(GlobalRef::Func(f)) = m.symbol("f") else {
        panic!("f");
    };
    assert!(m.functions[f].body.is_some());
    assert_eq!(m.functions.values().filter(|f| &*f.name == "c").count(), 1);
    assert_eq!(m.globals.len(), 3);
    assert_eq!(m.name, "main.ll");
}

const DEBUG: &str = r#"
@v = global i32 0, !dbg !20
define void @caller(i32 %x) !dbg !5 {
  %1 = add i32 %x, 1, !dbg !10
  %2 = add i32 %1, 1, !dbg !11
  %3 = add i32 %2, 1
  ret void, !dbg !12
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug, globals: !22)
!1 = !DIFile(filename: "a.c", directory: "/src")
!2 = !DIFile(filename: "b.h", directory: "/src")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !{})
!5 = distinct !DISubprogram(name: "caller", linkageName: "_Z6calleri", scope: !1, file: !1, line: 3, type: !4, spFlags: DISPFlagDefinition, unit: !0)
!6 = distinct !DISubprogram(name: "inlined", scope: !2, file: !2, line: 40, type: !4, spFlags: DISPFlagDefinition, unit: !0)
!7 = distinct !DILexicalBlock(scope: !5, file: !1, line: 4, column: 2)
!8 = !DILexicalBlockFile(scope: !7, file: !2, discriminator: 1)
!10 = !DILocation(line: 5, column: 7, scope: !7)
!11 = !DILocation(line: 41, column: 3, scope: !6, inlinedAt: !10)
!12 = !DILocation(line: 9, scope: !8)
!20 = !DIGlobalVariableExpression(var: !21, expr: !DIExpression())
!21 = distinct !DIGlobalVariable(name: "v", scope: !0, file: !1, line: 2, type: !23, isDefinition: true)
!22 = !{!20}
!23 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
"#;

#[test]
fn locations() {
    let m = module(DEBUG);
    let f = m.functions.values().next().expect("caller");
    let scope = f.scope.expect("a subprogram");
    assert_eq!(&*m.debug.scopes[scope].name, "caller");
    assert_eq!(m.debug.scopes[scope].line, 3);
    let locs: Vec<_> = f
        .body
        .iter()
        .flat_map(|b| &b.insts)
        .map(|i| i.loc)
        .collect();
    let first = locs[0].expect("a location");
    assert_eq!(m.debug.describe(first), "a.c:5:7");
    assert_eq!(m.debug.locs[first].scope, scope);
    let second = locs[1].expect("a location");
    assert_eq!(m.debug.describe(second), "b.h:41:3");
    assert_eq!(m.debug.locs[second].inlined_at, Some(first));
    assert_eq!(&*m.debug.scopes[m.debug.locs[second].scope].name, "inlined");
    assert_eq!(locs[2], None);
    let last = locs[3].expect("a location");
    assert_eq!(m.debug.describe(last), "b.h:9");
    assert_eq!(m.debug.locs[last].scope, scope);
    let v = m
        .globals
        .values()
        .next()
        .expect("v")
        .loc
        .expect("a location");
    assert_eq!(m.debug.describe(v), "a.c:2");
}

#[test]
fn damaged_debug_information_is_dropped() {
    let m = module(&DEBUG.replace(
        "!{i32 2, !\"Debug Info Version\", i32 3}",
        "!{i32 2, !\"Debug Info Version\", i32 1}",
    ));
    assert!(m.functions.values().next().expect("caller").scope.is_none());
    let m = module(&DEBUG.replace(
        "!DILocation(line: 9, scope: !8)",
        "!DILocation(line: 9, scope: !6)",
    ));
    assert!(m.functions.values().next().expect("caller").body.is_some());
}
