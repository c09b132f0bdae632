; Floating-point intrinsics, class tests and all sixteen predicates at double.
target triple = "x86_64-pc-linux-gnu"
declare i32 @printf(ptr, ...)
declare i32 @puts(ptr)
@fmt = private unnamed_addr constant [6 x i8] c"%llx \00"
@fmtn = private unnamed_addr constant [7 x i8] c"%s %d\0A\00"
@nl = private unnamed_addr constant [1 x i8] zeroinitializer
define internal void @p(i64 %v) noinline {
  %r = call i32 (ptr, ...) @printf(ptr @fmt, i64 %v)
  ret void
}
define internal void @nlp() noinline {
  %r = call i32 @puts(ptr @nl)
  ret void
}
@v = internal global [11 x double] [double 0.0, double -0.0, double 1.0, double -2.5, double 0x3FB99999A0000000, double 0x7FF0000000000000, double 0xFFF0000000000000, double 0x7FF8000000000000, double 0x41DFFFFFFFC00000, double -129.0, double 300.5]
declare double @llvm.copysign.f64(double, double)
declare double @llvm.minnum.f64(double, double)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.minimum.f64(double, double)
declare double @llvm.maximum.f64(double, double)
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.trunc.f64(double)
declare double @llvm.rint.f64(double)
declare double @llvm.nearbyint.f64(double)
declare double @llvm.round.f64(double)
declare double @llvm.roundeven.f64(double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.canonicalize.f64(double)
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.fmuladd.f64(double, double, double)
declare double @llvm.ldexp.f64.i32(double, i32)
declare {double, i32} @llvm.frexp.f64.i32(double)
declare i1 @llvm.is.fpclass.f64(double, i32)
define internal void @pair(double %a, double %b) noinline {
  %rcopysign = call double @llvm.copysign.f64(double %a, double %b)
  %ncopysign = fcmp uno double %rcopysign, %rcopysign
  %bcopysign = bitcast double %rcopysign to i64
  %scopysign = select i1 %ncopysign, i64 1, i64 %bcopysign
  call void @p(i64 %scopysign)
  %rminnum = call double @llvm.minnum.f64(double %a, double %b)
  %wminnum = fadd double %rminnum, 0.0
  %nminnum = fcmp uno double %wminnum, %wminnum
  %bminnum = bitcast double %wminnum to i64
  %sminnum = select i1 %nminnum, i64 1, i64 %bminnum
  call void @p(i64 %sminnum)
  %rmaxnum = call double @llvm.maxnum.f64(double %a, double %b)
  %wmaxnum = fadd double %rmaxnum, 0.0
  %nmaxnum = fcmp uno double %wmaxnum, %wmaxnum
  %bmaxnum = bitcast double %wmaxnum to i64
  %smaxnum = select i1 %nmaxnum, i64 1, i64 %bmaxnum
  call void @p(i64 %smaxnum)
  %rminimum = call double @llvm.minimum.f64(double %a, double %b)
  %nminimum = fcmp uno double %rminimum, %rminimum
  %bminimum = bitcast double %rminimum to i64
  %sminimum = select i1 %nminimum, i64 1, i64 %bminimum
  call void @p(i64 %sminimum)
  %rmaximum = call double @llvm.maximum.f64(double %a, double %b)
  %nmaximum = fcmp uno double %rmaximum, %rmaximum
  %bmaximum = bitcast double %rmaximum to i64
  %smaximum = select i1 %nmaximum, i64 1, i64 %bmaximum
  call void @p(i64 %smaximum)
  %rfabs = call double @llvm.fabs.f64(double %a)
  %nfabs = fcmp uno double %rfabs, %rfabs
  %bfabs = bitcast double %rfabs to i64
  %sfabs = select i1 %nfabs, i64 1, i64 %bfabs
  call void @p(i64 %sfabs)
  %rfloor = call double @llvm.floor.f64(double %a)
  %nfloor = fcmp uno double %rfloor, %rfloor
  %bfloor = bitcast double %rfloor to i64
  %sfloor = select i1 %nfloor, i64 1, i64 %bfloor
  call void @p(i64 %sfloor)
  %rceil = call double @llvm.ceil.f64(double %a)
  %nceil = fcmp uno double %rceil, %rceil
  %bceil = bitcast double %rceil to i64
  %sceil = select i1 %nceil, i64 1, i64 %bceil
  call void @p(i64 %sceil)
  %rtrunc = call double @llvm.trunc.f64(double %a)
  %ntrunc = fcmp uno double %rtrunc, %rtrunc
  %btrunc = bitcast double %rtrunc to i64
  %strunc = select i1 %ntrunc, i64 1, i64 %btrunc
  call void @p(i64 %strunc)
  %rrint = call double @llvm.rint.f64(double %a)
  %nrint = fcmp uno double %rrint, %rrint
  %brint = bitcast double %rrint to i64
  %srint = select i1 %nrint, i64 1, i64 %brint
  call void @p(i64 %srint)
  %rnearbyint = call double @llvm.nearbyint.f64(double %a)
  %nnearbyint = fcmp uno double %rnearbyint, %rnearbyint
  %bnearbyint = bitcast double %rnearbyint to i64
  %snearbyint = select i1 %nnearbyint, i64 1, i64 %bnearbyint
  call void @p(i64 %snearbyint)
  %rround = call double @llvm.round.f64(double %a)
  %nround = fcmp uno double %rround, %rround
  %bround = bitcast double %rround to i64
  %sround = select i1 %nround, i64 1, i64 %bround
  call void @p(i64 %sround)
  %rroundeven = call double @llvm.roundeven.f64(double %a)
  %nroundeven = fcmp uno double %rroundeven, %rroundeven
  %broundeven = bitcast double %rroundeven to i64
  %sroundeven = select i1 %nroundeven, i64 1, i64 %broundeven
  call void @p(i64 %sroundeven)
  %rsqrt = call double @llvm.sqrt.f64(double %a)
  %nsqrt = fcmp uno double %rsqrt, %rsqrt
  %bsqrt = bitcast double %rsqrt to i64
  %ssqrt = select i1 %nsqrt, i64 1, i64 %bsqrt
  call void @p(i64 %ssqrt)
  %rcanonicalize = call double @llvm.canonicalize.f64(double %a)
  %ncanonicalize = fcmp uno double %rcanonicalize, %rcanonicalize
  %bcanonicalize = bitcast double %rcanonicalize to i64
  %scanonicalize = select i1 %ncanonicalize, i64 1, i64 %bcanonicalize
  call void @p(i64 %scanonicalize)
  %rfma = call double @llvm.fma.f64(double %a, double %b, double %a)
  %nfma = fcmp uno double %rfma, %rfma
  %bfma = bitcast double %rfma to i64
  %sfma = select i1 %nfma, i64 1, i64 %bfma
  call void @p(i64 %sfma)
  %rfmuladd = call double @llvm.fmuladd.f64(double %a, double %b, double %a)
  %nfmuladd = fcmp uno double %rfmuladd, %rfmuladd
  %bfmuladd = bitcast double %rfmuladd to i64
  %sfmuladd = select i1 %nfmuladd, i64 1, i64 %bfmuladd
  call void @p(i64 %sfmuladd)
  %ld = call double @llvm.ldexp.f64.i32(double %a, i32 -3)
  %nld = fcmp uno double %ld, %ld
  %bld = bitcast double %ld to i64
  %sld = select i1 %nld, i64 1, i64 %bld
  call void @p(i64 %sld)
  %fin = call i1 @llvm.is.fpclass.f64(double %a, i32 504)
  %fx = select i1 %fin, double %a, double 2.5
  %fr = call {double, i32} @llvm.frexp.f64.i32(double %fx)
  %fr0 = extractvalue {double, i32} %fr, 0
  %fr1 = extractvalue {double, i32} %fr, 1
  %nfr0 = fcmp uno double %fr0, %fr0
  %bfr0 = bitcast double %fr0 to i64
  %sfr0 = select i1 %nfr0, i64 1, i64 %bfr0
  call void @p(i64 %sfr0)
  %zfr1 = zext i32 %fr1 to i64
  call void @p(i64 %zfr1)
  %cl0 = call i1 @llvm.is.fpclass.f64(double %a, i32 1)
  %zcl0 = zext i1 %cl0 to i64
  call void @p(i64 %zcl0)
  %cl1 = call i1 @llvm.is.fpclass.f64(double %a, i32 2)
  %zcl1 = zext i1 %cl1 to i64
  call void @p(i64 %zcl1)
  %cl2 = call i1 @llvm.is.fpclass.f64(double %a, i32 4)
  %zcl2 = zext i1 %cl2 to i64
  call void @p(i64 %zcl2)
  %cl3 = call i1 @llvm.is.fpclass.f64(double %a, i32 8)
  %zcl3 = zext i1 %cl3 to i64
  call void @p(i64 %zcl3)
  %cl4 = call i1 @llvm.is.fpclass.f64(double %a, i32 16)
  %zcl4 = zext i1 %cl4 to i64
  call void @p(i64 %zcl4)
  %cl5 = call i1 @llvm.is.fpclass.f64(double %a, i32 32)
  %zcl5 = zext i1 %cl5 to i64
  call void @p(i64 %zcl5)
  %cl6 = call i1 @llvm.is.fpclass.f64(double %a, i32 64)
  %zcl6 = zext i1 %cl6 to i64
  call void @p(i64 %zcl6)
  %cl7 = call i1 @llvm.is.fpclass.f64(double %a, i32 128)
  %zcl7 = zext i1 %cl7 to i64
  call void @p(i64 %zcl7)
  %cl8 = call i1 @llvm.is.fpclass.f64(double %a, i32 256)
  %zcl8 = zext i1 %cl8 to i64
  call void @p(i64 %zcl8)
  %cl9 = call i1 @llvm.is.fpclass.f64(double %a, i32 512)
  %zcl9 = zext i1 %cl9 to i64
  call void @p(i64 %zcl9)
  %qoeq = fcmp oeq double %a, %b
  %zqoeq = zext i1 %qoeq to i64
  call void @p(i64 %zqoeq)
  %qogt = fcmp ogt double %a, %b
  %zqogt = zext i1 %qogt to i64
  call void @p(i64 %zqogt)
  %qoge = fcmp oge double %a, %b
  %zqoge = zext i1 %qoge to i64
  call void @p(i64 %zqoge)
  %qolt = fcmp olt double %a, %b
  %zqolt = zext i1 %qolt to i64
  call void @p(i64 %zqolt)
  %qole = fcmp ole double %a, %b
  %zqole = zext i1 %qole to i64
  call void @p(i64 %zqole)
  %qone = fcmp one double %a, %b
  %zqone = zext i1 %qone to i64
  call void @p(i64 %zqone)
  %qord = fcmp ord double %a, %b
  %zqord = zext i1 %qord to i64
  call void @p(i64 %zqord)
  %queq = fcmp ueq double %a, %b
  %zqueq = zext i1 %queq to i64
  call void @p(i64 %zqueq)
  %qugt = fcmp ugt double %a, %b
  %zqugt = zext i1 %qugt to i64
  call void @p(i64 %zqugt)
  %quge = fcmp uge double %a, %b
  %zquge = zext i1 %quge to i64
  call void @p(i64 %zquge)
  %qult = fcmp ult double %a, %b
  %zqult = zext i1 %qult to i64
  call void @p(i64 %zqult)
  %qule = fcmp ule double %a, %b
  %zqule = zext i1 %qule to i64
  call void @p(i64 %zqule)
  %qune = fcmp une double %a, %b
  %zqune = zext i1 %qune to i64
  call void @p(i64 %zqune)
  %quno = fcmp uno double %a, %b
  %zquno = zext i1 %quno to i64
  call void @p(i64 %zquno)
  %qtrue = fcmp true double %a, %b
  %zqtrue = zext i1 %qtrue to i64
  call void @p(i64 %zqtrue)
  %qfalse = fcmp false double %a, %b
  %zqfalse = zext i1 %qfalse to i64
  call void @p(i64 %zqfalse)
  call void @nlp()
  ret void
}
define i32 @main() {
entry:
  br label %oi
oi:
  %i = phi i64 [ 0, %entry ], [ %i1, %on ]
  br label %oj
oj:
  %j = phi i64 [ 0, %oi ], [ %j1, %oj ]
  %pa = getelementptr [11 x double], ptr @v, i64 0, i64 %i
  %pb = getelementptr [11 x double], ptr @v, i64 0, i64 %j
  %a = load volatile double, ptr %pa
  %b = load volatile double, ptr %pb
  call void @pair(double %a, double %b)
  %j1 = add i64 %j, 1
  %jd = icmp eq i64 %j1, 11
  br i1 %jd, label %on, label %oj
on:
  %i1 = add i64 %i, 1
  %id = icmp eq i64 %i1, 11
  br i1 %id, label %end, label %oi
end:
  ret i32 0
}
