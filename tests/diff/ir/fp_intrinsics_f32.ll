; Floating-point intrinsics, class tests and all sixteen predicates at float.
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
@v = internal global [11 x float] [float 0.0, float -0.0, float 1.0, float -2.5, float 0x3FB99999A0000000, float 0x7FF0000000000000, float 0xFFF0000000000000, float 0x7FF8000000000000, float 0x41E0000000000000, float -129.0, float 300.5]
declare float @llvm.copysign.f32(float, float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.minimum.f32(float, float)
declare float @llvm.maximum.f32(float, float)
declare float @llvm.fabs.f32(float)
declare float @llvm.floor.f32(float)
declare float @llvm.ceil.f32(float)
declare float @llvm.trunc.f32(float)
declare float @llvm.rint.f32(float)
declare float @llvm.nearbyint.f32(float)
declare float @llvm.round.f32(float)
declare float @llvm.roundeven.f32(float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.canonicalize.f32(float)
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.fmuladd.f32(float, float, float)
declare float @llvm.ldexp.f32.i32(float, i32)
declare {float, i32} @llvm.frexp.f32.i32(float)
declare i1 @llvm.is.fpclass.f32(float, i32)
define internal void @pair(float %a, float %b) noinline {
  %rcopysign = call float @llvm.copysign.f32(float %a, float %b)
  %ncopysign = fcmp uno float %rcopysign, %rcopysign
  %bcopysign = bitcast float %rcopysign to i32
  %scopysign = select i1 %ncopysign, i32 1, i32 %bcopysign
  %zfcopysign = zext i32 %scopysign to i64
  call void @p(i64 %zfcopysign)
  %rminnum = call float @llvm.minnum.f32(float %a, float %b)
  %wminnum = fadd float %rminnum, 0.0
  %nminnum = fcmp uno float %wminnum, %wminnum
  %bminnum = bitcast float %wminnum to i32
  %sminnum = select i1 %nminnum, i32 1, i32 %bminnum
  %zfminnum = zext i32 %sminnum to i64
  call void @p(i64 %zfminnum)
  %rmaxnum = call float @llvm.maxnum.f32(float %a, float %b)
  %wmaxnum = fadd float %rmaxnum, 0.0
  %nmaxnum = fcmp uno float %wmaxnum, %wmaxnum
  %bmaxnum = bitcast float %wmaxnum to i32
  %smaxnum = select i1 %nmaxnum, i32 1, i32 %bmaxnum
  %zfmaxnum = zext i32 %smaxnum to i64
  call void @p(i64 %zfmaxnum)
  %rminimum = call float @llvm.minimum.f32(float %a, float %b)
  %nminimum = fcmp uno float %rminimum, %rminimum
  %bminimum = bitcast float %rminimum to i32
  %sminimum = select i1 %nminimum, i32 1, i32 %bminimum
  %zfminimum = zext i32 %sminimum to i64
  call void @p(i64 %zfminimum)
  %rmaximum = call float @llvm.maximum.f32(float %a, float %b)
  %nmaximum = fcmp uno float %rmaximum, %rmaximum
  %bmaximum = bitcast float %rmaximum to i32
  %smaximum = select i1 %nmaximum, i32 1, i32 %bmaximum
  %zfmaximum = zext i32 %smaximum to i64
  call void @p(i64 %zfmaximum)
  %rfabs = call float @llvm.fabs.f32(float %a)
  %nfabs = fcmp uno float %rfabs, %rfabs
  %bfabs = bitcast float %rfabs to i32
  %sfabs = select i1 %nfabs, i32 1, i32 %bfabs
  %zffabs = zext i32 %sfabs to i64
  call void @p(i64 %zffabs)
  %rfloor = call float @llvm.floor.f32(float %a)
  %nfloor = fcmp uno float %rfloor, %rfloor
  %bfloor = bitcast float %rfloor to i32
  %sfloor = select i1 %nfloor, i32 1, i32 %bfloor
  %zffloor = zext i32 %sfloor to i64
  call void @p(i64 %zffloor)
  %rceil = call float @llvm.ceil.f32(float %a)
  %nceil = fcmp uno float %rceil, %rceil
  %bceil = bitcast float %rceil to i32
  %sceil = select i1 %nceil, i32 1, i32 %bceil
  %zfceil = zext i32 %sceil to i64
  call void @p(i64 %zfceil)
  %rtrunc = call float @llvm.trunc.f32(float %a)
  %ntrunc = fcmp uno float %rtrunc, %rtrunc
  %btrunc = bitcast float %rtrunc to i32
  %strunc = select i1 %ntrunc, i32 1, i32 %btrunc
  %zftrunc = zext i32 %strunc to i64
  call void @p(i64 %zftrunc)
  %rrint = call float @llvm.rint.f32(float %a)
  %nrint = fcmp uno float %rrint, %rrint
  %brint = bitcast float %rrint to i32
  %srint = select i1 %nrint, i32 1, i32 %brint
  %zfrint = zext i32 %srint to i64
  call void @p(i64 %zfrint)
  %rnearbyint = call float @llvm.nearbyint.f32(float %a)
  %nnearbyint = fcmp uno float %rnearbyint, %rnearbyint
  %bnearbyint = bitcast float %rnearbyint to i32
  %snearbyint = select i1 %nnearbyint, i32 1, i32 %bnearbyint
  %zfnearbyint = zext i32 %snearbyint to i64
  call void @p(i64 %zfnearbyint)
  %rround = call float @llvm.round.f32(float %a)
  %nround = fcmp uno float %rround, %rround
  %bround = bitcast float %rround to i32
  %sround = select i1 %nround, i32 1, i32 %bround
  %zfround = zext i32 %sround to i64
  call void @p(i64 %zfround)
  %rroundeven = call float @llvm.roundeven.f32(float %a)
  %nroundeven = fcmp uno float %rroundeven, %rroundeven
  %broundeven = bitcast float %rroundeven to i32
  %sroundeven = select i1 %nroundeven, i32 1, i32 %broundeven
  %zfroundeven = zext i32 %sroundeven to i64
  call void @p(i64 %zfroundeven)
  %rsqrt = call float @llvm.sqrt.f32(float %a)
  %nsqrt = fcmp uno float %rsqrt, %rsqrt
  %bsqrt = bitcast float %rsqrt to i32
  %ssqrt = select i1 %nsqrt, i32 1, i32 %bsqrt
  %zfsqrt = zext i32 %ssqrt to i64
  call void @p(i64 %zfsqrt)
  %rcanonicalize = call float @llvm.canonicalize.f32(float %a)
  %ncanonicalize = fcmp uno float %rcanonicalize, %rcanonicalize
  %bcanonicalize = bitcast float %rcanonicalize to i32
  %scanonicalize = select i1 %ncanonicalize, i32 1, i32 %bcanonicalize
  %zfcanonicalize = zext i32 %scanonicalize to i64
  call void @p(i64 %zfcanonicalize)
  %rfma = call float @llvm.fma.f32(float %a, float %b, float %a)
  %nfma = fcmp uno float %rfma, %rfma
  %bfma = bitcast float %rfma to i32
  %sfma = select i1 %nfma, i32 1, i32 %bfma
  %zffma = zext i32 %sfma to i64
  call void @p(i64 %zffma)
  %rfmuladd = call float @llvm.fmuladd.f32(float %a, float %b, float %a)
  %nfmuladd = fcmp uno float %rfmuladd, %rfmuladd
  %bfmuladd = bitcast float %rfmuladd to i32
  %sfmuladd = select i1 %nfmuladd, i32 1, i32 %bfmuladd
  %zffmuladd = zext i32 %sfmuladd to i64
  call void @p(i64 %zffmuladd)
  %ld = call float @llvm.ldexp.f32.i32(float %a, i32 -3)
  %nld = fcmp uno float %ld, %ld
  %bld = bitcast float %ld to i32
  %sld = select i1 %nld, i32 1, i32 %bld
  %zfld = zext i32 %sld to i64
  call void @p(i64 %zfld)
  %fin = call i1 @llvm.is.fpclass.f32(float %a, i32 504)
  %fx = select i1 %fin, float %a, float 2.5
  %fr = call {float, i32} @llvm.frexp.f32.i32(float %fx)
  %fr0 = extractvalue {float, i32} %fr, 0
  %fr1 = extractvalue {float, i32} %fr, 1
  %nfr0 = fcmp uno float %fr0, %fr0
  %bfr0 = bitcast float %fr0 to i32
  %sfr0 = select i1 %nfr0, i32 1, i32 %bfr0
  %zffr0 = zext i32 %sfr0 to i64
  call void @p(i64 %zffr0)
  %zfr1 = zext i32 %fr1 to i64
  call void @p(i64 %zfr1)
  %cl0 = call i1 @llvm.is.fpclass.f32(float %a, i32 1)
  %zcl0 = zext i1 %cl0 to i64
  call void @p(i64 %zcl0)
  %cl1 = call i1 @llvm.is.fpclass.f32(float %a, i32 2)
  %zcl1 = zext i1 %cl1 to i64
  call void @p(i64 %zcl1)
  %cl2 = call i1 @llvm.is.fpclass.f32(float %a, i32 4)
  %zcl2 = zext i1 %cl2 to i64
  call void @p(i64 %zcl2)
  %cl3 = call i1 @llvm.is.fpclass.f32(float %a, i32 8)
  %zcl3 = zext i1 %cl3 to i64
  call void @p(i64 %zcl3)
  %cl4 = call i1 @llvm.is.fpclass.f32(float %a, i32 16)
  %zcl4 = zext i1 %cl4 to i64
  call void @p(i64 %zcl4)
  %cl5 = call i1 @llvm.is.fpclass.f32(float %a, i32 32)
  %zcl5 = zext i1 %cl5 to i64
  call void @p(i64 %zcl5)
  %cl6 = call i1 @llvm.is.fpclass.f32(float %a, i32 64)
  %zcl6 = zext i1 %cl6 to i64
  call void @p(i64 %zcl6)
  %cl7 = call i1 @llvm.is.fpclass.f32(float %a, i32 128)
  %zcl7 = zext i1 %cl7 to i64
  call void @p(i64 %zcl7)
  %cl8 = call i1 @llvm.is.fpclass.f32(float %a, i32 256)
  %zcl8 = zext i1 %cl8 to i64
  call void @p(i64 %zcl8)
  %cl9 = call i1 @llvm.is.fpclass.f32(float %a, i32 512)
  %zcl9 = zext i1 %cl9 to i64
  call void @p(i64 %zcl9)
  %qoeq = fcmp oeq float %a, %b
  %zqoeq = zext i1 %qoeq to i64
  call void @p(i64 %zqoeq)
  %qogt = fcmp ogt float %a, %b
  %zqogt = zext i1 %qogt to i64
  call void @p(i64 %zqogt)
  %qoge = fcmp oge float %a, %b
  %zqoge = zext i1 %qoge to i64
  call void @p(i64 %zqoge)
  %qolt = fcmp olt float %a, %b
  %zqolt = zext i1 %qolt to i64
  call void @p(i64 %zqolt)
  %qole = fcmp ole float %a, %b
  %zqole = zext i1 %qole to i64
  call void @p(i64 %zqole)
  %qone = fcmp one float %a, %b
  %zqone = zext i1 %qone to i64
  call void @p(i64 %zqone)
  %qord = fcmp ord float %a, %b
  %zqord = zext i1 %qord to i64
  call void @p(i64 %zqord)
  %queq = fcmp ueq float %a, %b
  %zqueq = zext i1 %queq to i64
  call void @p(i64 %zqueq)
  %qugt = fcmp ugt float %a, %b
  %zqugt = zext i1 %qugt to i64
  call void @p(i64 %zqugt)
  %quge = fcmp uge float %a, %b
  %zquge = zext i1 %quge to i64
  call void @p(i64 %zquge)
  %qult = fcmp ult float %a, %b
  %zqult = zext i1 %qult to i64
  call void @p(i64 %zqult)
  %qule = fcmp ule float %a, %b
  %zqule = zext i1 %qule to i64
  call void @p(i64 %zqule)
  %qune = fcmp une float %a, %b
  %zqune = zext i1 %qune to i64
  call void @p(i64 %zqune)
  %quno = fcmp uno float %a, %b
  %zquno = zext i1 %quno to i64
  call void @p(i64 %zquno)
  %qtrue = fcmp true float %a, %b
  %zqtrue = zext i1 %qtrue to i64
  call void @p(i64 %zqtrue)
  %qfalse = fcmp false float %a, %b
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
  %pa = getelementptr [11 x float], ptr @v, i64 0, i64 %i
  %pb = getelementptr [11 x float], ptr @v, i64 0, i64 %j
  %a = load volatile float, ptr %pa
  %b = load volatile float, ptr %pb
  call void @pair(float %a, float %b)
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
