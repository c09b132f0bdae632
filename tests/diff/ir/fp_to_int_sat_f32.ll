; Saturating conversions from float, including NaN and infinities.
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
declare i8 @llvm.fptosi.sat.i8.f32(float)
declare i8 @llvm.fptoui.sat.i8.f32(float)
declare i16 @llvm.fptosi.sat.i16.f32(float)
declare i16 @llvm.fptoui.sat.i16.f32(float)
declare i32 @llvm.fptosi.sat.i32.f32(float)
declare i32 @llvm.fptoui.sat.i32.f32(float)
declare i64 @llvm.fptosi.sat.i64.f32(float)
declare i64 @llvm.fptoui.sat.i64.f32(float)
declare i128 @llvm.fptosi.sat.i128.f32(float)
declare i128 @llvm.fptoui.sat.i128.f32(float)
declare i19 @llvm.fptosi.sat.i19.f32(float)
declare i19 @llvm.fptoui.sat.i19.f32(float)
define internal void @pair(float %a, float %b) noinline {
  %rfptosii8 = call i8 @llvm.fptosi.sat.i8.f32(float %a)
  %zfptosii8 = zext i8 %rfptosii8 to i64
  call void @p(i64 %zfptosii8)
  %rfptouii8 = call i8 @llvm.fptoui.sat.i8.f32(float %a)
  %zfptouii8 = zext i8 %rfptouii8 to i64
  call void @p(i64 %zfptouii8)
  %rfptosii16 = call i16 @llvm.fptosi.sat.i16.f32(float %a)
  %zfptosii16 = zext i16 %rfptosii16 to i64
  call void @p(i64 %zfptosii16)
  %rfptouii16 = call i16 @llvm.fptoui.sat.i16.f32(float %a)
  %zfptouii16 = zext i16 %rfptouii16 to i64
  call void @p(i64 %zfptouii16)
  %rfptosii32 = call i32 @llvm.fptosi.sat.i32.f32(float %a)
  %zfptosii32 = zext i32 %rfptosii32 to i64
  call void @p(i64 %zfptosii32)
  %rfptouii32 = call i32 @llvm.fptoui.sat.i32.f32(float %a)
  %zfptouii32 = zext i32 %rfptouii32 to i64
  call void @p(i64 %zfptouii32)
  %rfptosii64 = call i64 @llvm.fptosi.sat.i64.f32(float %a)
  call void @p(i64 %rfptosii64)
  %rfptouii64 = call i64 @llvm.fptoui.sat.i64.f32(float %a)
  call void @p(i64 %rfptouii64)
  %rfptosii128 = call i128 @llvm.fptosi.sat.i128.f32(float %a)
  %zfptosii128 = trunc i128 %rfptosii128 to i64
  call void @p(i64 %zfptosii128)
  %yfptosii128 = lshr i128 %rfptosii128, 64
  %xfptosii128 = trunc i128 %yfptosii128 to i64
  call void @p(i64 %xfptosii128)
  %rfptouii128 = call i128 @llvm.fptoui.sat.i128.f32(float %a)
  %zfptouii128 = trunc i128 %rfptouii128 to i64
  call void @p(i64 %zfptouii128)
  %yfptouii128 = lshr i128 %rfptouii128, 64
  %xfptouii128 = trunc i128 %yfptouii128 to i64
  call void @p(i64 %xfptouii128)
  %rfptosii19 = call i19 @llvm.fptosi.sat.i19.f32(float %a)
  %zfptosii19 = zext i19 %rfptosii19 to i64
  call void @p(i64 %zfptosii19)
  %rfptouii19 = call i19 @llvm.fptoui.sat.i19.f32(float %a)
  %zfptouii19 = zext i19 %rfptouii19 to i64
  call void @p(i64 %zfptouii19)
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
