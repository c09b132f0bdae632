//! Tests of every instruction.

use super::*;
use ompvm_ir::{Callee, TailKind};

/// A module with every kind of construct, for [`super::every_construct_is_read`].
pub(super) const ALL: &str = r#"
target triple = "x86_64-pc-linux-gnu"
%struct.s = type { i32, double, [3 x i8] }
@data = global [4 x i16] [i16 1, i16 2, i16 3, i16 4]
@table = constant [2 x ptr] [ptr @f, ptr null]
@where = constant [1 x ptr] [ptr blockaddress(@jump, %a)]
@diff = constant i32 trunc (i64 sub (i64 ptrtoint (ptr @f to i64), i64 ptrtoint (ptr @table to i64)) to i32)
@same = constant ptr dso_local_equivalent @f
@cfi = constant ptr no_cfi @f
declare void @f()
define void @jump(ptr %p) {
  indirectbr ptr %p, [label %a, label %b]
a:
  ret void
b:
  unreachable
}
define <4 x i32> @vec(<4 x i32> %a, <4 x i1> %m) {
  %r = select <4 x i1> %m, <4 x i32> %a, <4 x i32> splat (i32 3)
  ret <4 x i32> %r
}
"#;

#[test]
fn arithmetic_with_flags() {
    let got = body(
        "i32 @f(i32 %a, i32 %b)",
        "%1 = add nuw nsw i32 %a, %b\n%2 = sub i32 %1, 1\n%3 = mul nsw i32 %2, %a\n\
         %4 = udiv exact i32 %3, 3\n%5 = sdiv i32 %4, %b\n%6 = urem i32 %5, 7\n\
         %7 = srem i32 %6, %b\n\
         %8 = shl nuw i32 %7, 2\n%9 = lshr exact i32 %8, 1\n%10 = ashr i32 %9, 1\n\
         %11 = and i32 %10, 255\n%12 = or disjoint i32 %11, 256\n%13 = xor i32 %12, -1\n\
         ret i32 %13",
    );
    assert_eq!(
        got,
        [
            "Add nuw nsw i32 %0, %1",
            "Sub i32 %2, i32 1",
            "Mul nsw i32 %3, %0",
            "UDiv exact i32 %4, i32 3",
            "SDiv i32 %5, %1",
            "URem i32 %6, i32 7",
            "SRem i32 %7, %1",
            "Shl nuw i32 %8, i32 2",
            "LShr exact i32 %9, i32 1",
            "AShr i32 %10, i32 1",
            "And i32 %11, i32 255",
            "Or i32 %12, i32 256",
            "Xor i32 %13, i32 -1",
            "Ret %14",
        ]
    );
}

#[test]
fn floating_point() {
    let got = body(
        "double @f(double %a, double %b)",
        "%1 = fadd fast double %a, %b\n%2 = fsub nnan double %1, 1.5\n\
         %3 = fmul contract double %2, %a\n\
         %4 = fdiv double %3, %b\n%5 = frem double %4, %a\n%6 = fneg double %5\n\
         %7 = fcmp ogt double %6, %a\n%8 = select i1 %7, double %6, double 0.0\nret double %8",
    );
    assert_eq!(
        got,
        [
            "FAdd fast(0x7f) double %0, %1",
            "FSub fast(0x2) double %2, double 1.5",
            "FMul fast(0x20) double %3, %0",
            "FDiv double %4, %1",
            "FRem double %5, %0",
            "FNeg double %6",
            "FCmp Ogt %7, %0",
            "Select double %8, %7, double 0.0",
            "Ret %9",
        ]
    );
}

#[test]
fn predicates() {
    let int = [
        "eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle",
    ];
    for pred in int {
        let got = body(
            "i1 @f(i8 %a)",
            &format!("%1 = icmp {pred} i8 %a, 5\nret i1 %1"),
        );
        assert!(
            got[0].to_lowercase().starts_with(&format!("icmp {pred} ")),
            "{got:?}"
        );
    }
    let float = [
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
        "ule", "une", "uno", "true",
    ];
    for pred in float {
        let got = body(
            "i1 @f(float %a)",
            &format!("%1 = fcmp {pred} float %a, 1.0\nret i1 %1"),
        );
        assert!(
            got[0].to_lowercase().starts_with(&format!("fcmp {pred} ")),
            "{got:?}"
        );
    }
}

#[test]
fn casts() {
    let got = body(
        "ptr @f(i64 %a, float %f, ptr %p, ptr addrspace(1) %q)",
        "%1 = trunc i64 %a to i1\n%2 = zext i1 %1 to i128\n%3 = sext i1 %1 to i7\n\
         %4 = fpext float %f to x86_fp80\n%5 = fptrunc x86_fp80 %4 to half\n\
         %6 = fptoui half %5 to i16\n%7 = fptosi float %f to i16\n%8 = uitofp i16 %6 to bfloat\n\
         %9 = sitofp i16 %7 to fp128\n%10 = ptrtoint ptr %p to i64\n%11 = inttoptr i64 %10 to ptr\n\
         %12 = bitcast float %f to <2 x i16>\n%13 = addrspacecast ptr addrspace(1) %q to ptr\n\
         %14 = ptrtoaddr ptr %p to i64\nret ptr %13",
    );
    assert_eq!(
        got[..14],
        [
            "Trunc %0 to i1",
            "ZExt %4 to i128",
            "SExt %4 to i7",
            "FpExt %1 to x86_fp80",
            "FpTrunc %7 to half",
            "FpToUi %8 to i16",
            "FpToSi %1 to i16",
            "UiToFp %9 to bfloat",
            "SiToFp %10 to fp128",
            "PtrToInt %2 to i64",
            "IntToPtr %13 to ptr",
            "BitCast %1 to <2 x i16>",
            "AddrSpaceCast %3 to ptr",
            "PtrToAddr %2 to i64",
        ]
    );
}

#[test]
fn memory() {
    let got = body(
        "i32 @f(i64 %n)",
        "%1 = alloca [8 x i32], align 16\n%2 = alloca i8, i64 %n, align 1\n\
         %3 = getelementptr inbounds [8 x i32], ptr %1, i64 0, i64 %n\n\
         store volatile i32 5, ptr %3, align 4\n%4 = load i32, ptr %3, align 4\n\
         store atomic i32 6, ptr %3 release, align 4\n\
         %5 = load atomic i32, ptr %3 acquire, align 4\n\
         %6 = load atomic volatile i32, ptr %3 syncscope(\"singlethread\") monotonic, align 4\n\
         ret i32 %6",
    );
    assert_eq!(
        got[..8],
        [
            "Alloca [8 x i32], i32 1, align 16",
            "Alloca i8, %0, align 1",
            "Gep [8 x i32], %1, i64 0, %0",
            "Store volatile i32 5, %3, align 4",
            "Load i32, %3, align 4",
            "Store Release i32 6, %3, align 4",
            "Load Acquire i32, %3, align 4",
            "Load volatile Monotonic SingleThread i32, %3, align 4",
        ]
    );
}

#[test]
fn atomics() {
    let got = body(
        "void @f(ptr %p)",
        "fence seq_cst\nfence syncscope(\"singlethread\") acq_rel\n\
         %1 = cmpxchg weak ptr %p, i32 1, i32 2 acq_rel monotonic, align 4\n\
         %2 = cmpxchg ptr %p, ptr null, ptr %p syncscope(\"singlethread\") seq_cst acquire, align \
         8\nret void",
    );
    assert_eq!(
        got,
        [
            "Fence SeqCst",
            "Fence AcqRel SingleThread",
            "CmpXchg weak AcqRel Monotonic %0, i32 1, i32 2",
            "CmpXchg SeqCst SingleThread Acquire %0, ptr null, %0",
            "Ret",
        ]
    );
    for (op, ty) in [
        ("xchg", "ptr"),
        ("add", "i32"),
        ("sub", "i32"),
        ("and", "i8"),
        ("nand", "i32"),
        ("or", "i32"),
        ("xor", "i32"),
        ("max", "i32"),
        ("min", "i64"),
        ("umax", "i32"),
        ("umin", "i128"),
        ("fadd", "double"),
        ("fsub", "float"),
        ("fmax", "double"),
        ("fmin", "double"),
        ("fmaximum", "double"),
        ("fminimum", "double"),
        ("uinc_wrap", "i32"),
        ("udec_wrap", "i32"),
        ("usub_cond", "i32"),
        ("usub_sat", "i32"),
    ] {
        let got = body(
            &format!("{ty} @f(ptr %p, {ty} %v)"),
            &format!("%1 = atomicrmw {op} ptr %p, {ty} %v monotonic, align 16\nret {ty} %1"),
        );
        let name = op.replace('_', "");
        let want = format!("AtomicRmw {name} Monotonic {ty} %0, %1").to_lowercase();
        assert_eq!(got[0].to_lowercase(), want);
    }
}

#[test]
fn control() {
    let m = module(
        "define i32 @f(i32 %a, i1 %c) {\nentry:\n br i1 %c, label %x, label %y\n\
         x:\n switch i32 %a, label %y [ i32 1, label %z\n i32 -1, label %x2 ]\n\
         x2:\n br label %z\n\
         y:\n unreachable\n\
         z:\n %r = phi i32 [ 4, %x ], [ %a, %x2 ]\n %s = freeze i32 %r\n ret i32 %s\n}\n",
    );
    assert_eq!(
        lines(&m),
        [
            "Br %1, bb1, bb3",
            "Switch %0, bb3 [1: bb4] [4294967295: bb2]",
            "Br bb4",
            "Unreachable",
            "Phi i32 [bb1: i32 4], [bb2: %0]",
            "Freeze i32 %6",
            "Ret %7",
        ]
    );
}

#[test]
fn vectors_and_aggregates() {
    let got = body(
        "i32 @f(<4 x i32> %v, i32 %i, {i32, [2 x float]} %s)",
        "%1 = extractelement <4 x i32> %v, i32 %i\n\
         %2 = insertelement <4 x i32> poison, i32 %1, i64 0\n\
         %3 = shufflevector <4 x i32> %v, <4 x i32> %2, <2 x i32> <i32 7, i32 poison>\n\
         %4 = extractvalue {i32, [2 x float]} %s, 1, 0\n\
         %5 = insertvalue {i32, [2 x float]} %s, float %4, 1, 1\n\
         %6 = shufflevector <4 x i32> %v, <4 x i32> poison, <4 x i32> zeroinitializer\nret i32 %1",
    );
    assert_eq!(
        got[..6],
        [
            "ExtractElement i32 %0, %1",
            "InsertElement <4 x i32> <4 x i32> poison, %3, i64 0",
            "ShuffleVector <2 x i32> %0, %4, [7, -1]",
            "ExtractValue float %2, [1, 0]",
            "InsertValue {i32, [2 x float]} %2, %6, [1, 1]",
            "ShuffleVector <4 x i32> %0, <4 x i32> poison, [0, 0, 0, 0]",
        ]
    );
}

#[test]
fn calls() {
    let m = module(
        "%s = type { i64, i64, i64 }\n\
         define void @f(ptr %p, ptr %fn) {\n\
         call void @g(ptr byval(%s) align 8 %p, ptr sret(%s) align 16 noalias %p)\n\
         %1 = tail call signext i8 (i32, ...) @v(i32 1, i8 zeroext 2, double 3.0)\n\
         %2 = call fastcc i32 %fn(ptr nest %p)\n\
         notail call void @g(ptr byval(%s) align 8 %p, ptr sret(%s) %p) [ \"clang.arc\"() ]\n\
         %3 = call i32 asm sideeffect inteldialect \"mov $0, $1\", \"=r,r,~{memory}\"(i32 %2)\n\
         call void @llvm.donothing()\n\
         call void @llvm.write_register.i64(metadata !0, i64 1)\n\
         musttail call void @f(ptr %p, ptr %fn)\nret void\n}\n\
         declare void @g(ptr byval(%s) align 8, ptr sret(%s))\ndeclare signext i8 @v(i32, ...)\n\
         declare void @llvm.donothing()\ndeclare void @llvm.write_register.i64(metadata, i64)\n\
         !0 = !{!\"rsp\"}\n",
    );
    assert_eq!(
        lines(&m),
        [
            "Call void @g(%0 byval({i64, i64, i64}) align 8, %0 sret({i64, i64, i64}) align 16 \
             noalias)",
            "Tail Call signext i8 @v(i32 1, i8 2 zeroext, double 3.0)",
            "Call cc8 i32 %1(%0 nest)",
            "NoTail Call void @g(%0 byval({i64, i64, i64}) align 8, %0 sret({i64, i64, i64})) \
             [clang.arc]",
            "Call i32 asm sideeffect intel \"mov $0, $1\", \"=r,r,~{memory}\"(%4)",
            "Call void @llvm.donothing()",
            "Call void @llvm.write_register.i64(metadata \"rsp\", i64 1)",
            "MustTail Call void @f(%0, %1)",
            "Ret",
        ]
    );
    let body = m.functions.values().next().and_then(|f| f.body.as_ref());
    let Some(Op::Call(call)) = body.map(|b| &b.insts[2].op) else {
        panic!("a call");
    };
    assert!(matches!(call.callee, Callee::Pointer(_)));
    assert_eq!(call.tail, TailKind::None);
    assert_eq!(m.show_type(call.fn_ty).to_string(), "i32 (ptr)");
}

#[test]
fn exceptions() {
    let m = module(
        "@ti = external constant ptr\n\
         define void @f() personality ptr @p {\n\
         invoke void @g() to label %ok unwind label %bad\nok:\n ret void\nbad:\n\
         %l = landingpad { ptr, i32 } cleanup catch ptr @ti catch ptr null filter [1 x ptr] [ptr @ti]\n\
         resume { ptr, i32 } %l\n}\ndeclare void @g()\ndeclare i32 @p(...)\n",
    );
    assert_eq!(
        lines(&m),
        [
            "Invoke void @g() to bb1 unwind bb2",
            "Ret",
            "LandingPad {ptr, i32} cleanup catch ptr @ti catch ptr null filter [1 x ptr] {ptr @ti}",
            "Resume %2",
        ]
    );
    let f = m.functions.values().next().expect("f");
    let personality = f.personality.expect("a personality");
    assert_eq!(m.show_const(personality).to_string(), "ptr @p");
}

#[test]
fn goto_asm_and_computed_goto() {
    let got = body(
        "void @f()",
        "callbr void asm sideeffect \"jmp ${0:l}\", \"!i\"() to label %a [label %b]\na:\n\
         ret void\nb:\nret void",
    );
    assert_eq!(
        got[0],
        "CallBr void asm sideeffect \"jmp ${0:l}\", \"!i\"() to bb1 or [bb2]"
    );
    let got = body(
        "void @f(i1 %c)",
        "%p = select i1 %c, ptr blockaddress(@f, %a), ptr blockaddress(@f, %b)\n\
         indirectbr ptr %p, [label %b, label %a]\na:\nret void\nb:\nret void",
    );
    assert_eq!(
        got[..2],
        [
            "Select ptr %0, ptr blockaddress(@f, bb1), ptr blockaddress(@f, bb2)",
            "IndirectBr %1, [bb2, bb1]",
        ]
    );
}

#[test]
fn variadic_and_windows_pads() {
    let got = body("i32 @f(ptr %p)", "%1 = va_arg ptr %p, i32\nret i32 %1");
    assert_eq!(got[0], "VaArg %0, i32");
    let m = module(
        "define void @f() personality ptr @__CxxFrameHandler3 {\n\
         invoke void @g() to label %ok unwind label %bad\nok:\n ret void\nbad:\n\
         %c = cleanuppad within none []\n cleanupret from %c unwind to caller\n}\n\
         declare void @g()\ndeclare i32 @__CxxFrameHandler3(...)\n",
    );
    let got = lines(&m);
    assert!(got[2].starts_with("Unsupported"), "{got:?}");
    assert!(got[3].starts_with("Unsupported"), "{got:?}");
}

#[test]
fn constrained_intrinsics_keep_their_modes() {
    let got = lines(&module(
        "define double @f(double %a) strictfp {\n\
         %1 = call double @llvm.experimental.constrained.fadd.f64(double %a, double 1.0, metadata \
         !\"round.upward\", metadata !\"fpexcept.strict\") strictfp\nret double %1\n}\n\
         declare double @llvm.experimental.constrained.fadd.f64(double, double, metadata, \
         metadata)\n",
    ));
    assert!(
        got[0].contains("metadata \"round.upward\", metadata \"fpexcept.strict\""),
        "{got:?}"
    );
}
