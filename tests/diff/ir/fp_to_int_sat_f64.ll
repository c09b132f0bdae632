; Saturating conversions from double, including NaN and infinities.
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
declare i8 @llvm.fptosi.sat.i8.f64(double)
declare i8 @llvm.fptoui.sat.i8.f64(double)
declare i16 @llvm.fptosi.sat.i16.f64(double)
declare i16 @llvm.fptoui.sat.i16.f64(double)
declare i32 @llvm.fptosi.sat.i32.f64(double)
declare i32 @llvm.fptoui.sat.i32.f64(double)
declare i64 @llvm.fptosi.sat.i64.f64(double)
declare i64 @llvm.fptoui.sat.i64.f64(double)
declare i128 @llvm.fptosi.sat.i128.f64(double)
declare i128 @llvm.fptoui.sat.i128.f64(double)
declare i19 @llvm.fptosi.sat.i19.f64(double)
declare i19 @llvm.fptoui.sat.i19.f64(double)
define internal void @pair(double %a, double %b) noinline {
  %rfptosii8 = call i8 @llvm.fptosi.sat.i8.f64(double %a)
  %zfptosii8 = zext i8 %rfptosii8 to i64
  call void @p(i64 %zfptosii8)
  %rfptouii8 = call i8 @llvm.fptoui.sat.i8.f64(double %a)
  %zfptouii8 = zext i8 %rfptouii8 to i64
  call void @p(i64 %zfptouii8)
  %rfptosii16 = call i16 @llvm.fptosi.sat.i16.f64(double %a)
  %zfptosii16 = zext i16 %rfptosii16 to i64
  call void @p(i64 %zfptosii16)
  %rfptouii16 = call i16 @llvm.fptoui.sat.i16.f64(double %a)
  %zfptouii16 = zext i16 %rfptouii16 to i64
  call void @p(i64 %zfptouii16)
  %rfptosii32 = call i32 @llvm.fptosi.sat.i32.f64(double %a)
  %zfptosii32 = zext i32 %rfptosii32 to i64
  call void @p(i64 %zfptosii32)
  %rfptouii32 = call i32 @llvm.fptoui.sat.i32.f64(double %a)
  %zfptouii32 = zext i32 %rfptouii32 to i64
  call void @p(i64 %zfptouii32)
  %rfptosii64 = call i64 @llvm.fptosi.sat.i64.f64(double %a)
  call void @p(i64 %rfptosii64)
  %rfptouii64 = call i64 @llvm.fptoui.sat.i64.f64(double %a)
  call void @p(i64 %rfptouii64)
  %rfptosii128 = call i128 @llvm.fptosi.sat.i128.f64(double %a)
  %zfptosii128 = trunc i128 %rfptosii128 to i64
  call void @p(i64 %zfptosii128)
  %yfptosii128 = lshr i128 %rfptosii128, 64
  %xfptosii128 = trunc i128 %yfptosii128 to i64
  call void @p(i64 %xfptosii128)
  %rfptouii128 = call i128 @llvm.fptoui.sat.i128.f64(double %a)
  %zfptouii128 = trunc i128 %rfptouii128 to i64
  call void @p(i64 %zfptouii128)
  %yfptouii128 = lshr i128 %rfptouii128, 64
  %xfptouii128 = trunc i128 %yfptouii128 to i64
  call void @p(i64 %xfptouii128)
  %rfptosii19 = call i19 @llvm.fptosi.sat.i19.f64(double %a)
  %zfptosii19 = zext i19 %rfptosii19 to i64
  call void @p(i64 %zfptosii19)
  %rfptouii19 = call i19 @llvm.fptoui.sat.i19.f64(double %a)
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
