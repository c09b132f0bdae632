; Constrained floating-point intrinsics with nearest or dynamic rounding.
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
@xf64 = internal global double 1.5
@yf64 = internal global double 3.0
declare double @llvm.experimental.constrained.fadd.f64(double, double, metadata, metadata)
declare double @llvm.experimental.constrained.fsub.f64(double, double, metadata, metadata)
declare double @llvm.experimental.constrained.fmul.f64(double, double, metadata, metadata)
declare double @llvm.experimental.constrained.fdiv.f64(double, double, metadata, metadata)
declare i1 @llvm.experimental.constrained.fcmp.f64(double, double, metadata, metadata)
declare i1 @llvm.experimental.constrained.fcmps.f64(double, double, metadata, metadata)
declare i32 @llvm.experimental.constrained.fptosi.i32.f64(double, metadata)
declare double @llvm.experimental.constrained.sitofp.f64.i32(i32, metadata, metadata)
declare double @llvm.experimental.constrained.sqrt.f64(double, metadata, metadata)
@xf32 = internal global float 1.5
@yf32 = internal global float 3.0
declare float @llvm.experimental.constrained.fadd.f32(float, float, metadata, metadata)
declare float @llvm.experimental.constrained.fsub.f32(float, float, metadata, metadata)
declare float @llvm.experimental.constrained.fmul.f32(float, float, metadata, metadata)
declare float @llvm.experimental.constrained.fdiv.f32(float, float, metadata, metadata)
declare i1 @llvm.experimental.constrained.fcmp.f32(float, float, metadata, metadata)
declare i1 @llvm.experimental.constrained.fcmps.f32(float, float, metadata, metadata)
declare i32 @llvm.experimental.constrained.fptosi.i32.f32(float, metadata)
declare float @llvm.experimental.constrained.sitofp.f32.i32(i32, metadata, metadata)
declare float @llvm.experimental.constrained.sqrt.f32(float, metadata, metadata)
define i32 @main() {
  %af64 = load volatile double, ptr @xf64
  %bf64 = load volatile double, ptr @yf64
  %rfaddf64 = call double @llvm.experimental.constrained.fadd.f64(double %af64, double %bf64, metadata !"round.tonearest", metadata !"fpexcept.ignore")
  %nfaddf64 = fcmp uno double %rfaddf64, %rfaddf64
  %bfaddf64 = bitcast double %rfaddf64 to i64
  %sfaddf64 = select i1 %nfaddf64, i64 1, i64 %bfaddf64
  call void @p(i64 %sfaddf64)
  %rfsubf64 = call double @llvm.experimental.constrained.fsub.f64(double %af64, double %bf64, metadata !"round.tonearest", metadata !"fpexcept.ignore")
  %nfsubf64 = fcmp uno double %rfsubf64, %rfsubf64
  %bfsubf64 = bitcast double %rfsubf64 to i64
  %sfsubf64 = select i1 %nfsubf64, i64 1, i64 %bfsubf64
  call void @p(i64 %sfsubf64)
  %rfmulf64 = call double @llvm.experimental.constrained.fmul.f64(double %af64, double %bf64, metadata !"round.tonearest", metadata !"fpexcept.ignore")
  %nfmulf64 = fcmp uno double %rfmulf64, %rfmulf64
  %bfmulf64 = bitcast double %rfmulf64 to i64
  %sfmulf64 = select i1 %nfmulf64, i64 1, i64 %bfmulf64
  call void @p(i64 %sfmulf64)
  %rfdivf64 = call double @llvm.experimental.constrained.fdiv.f64(double %af64, double %bf64, metadata !"round.tonearest", metadata !"fpexcept.ignore")
  %nfdivf64 = fcmp uno double %rfdivf64, %rfdivf64
  %bfdivf64 = bitcast double %rfdivf64 to i64
  %sfdivf64 = select i1 %nfdivf64, i64 1, i64 %bfdivf64
  call void @p(i64 %sfdivf64)
  %rfcmpf64 = call i1 @llvm.experimental.constrained.fcmp.f64(double %af64, double %bf64, metadata !"olt", metadata !"fpexcept.strict")
  %zfcmpf64 = zext i1 %rfcmpf64 to i64
  call void @p(i64 %zfcmpf64)
  %rfcmpsf64 = call i1 @llvm.experimental.constrained.fcmps.f64(double %af64, double %bf64, metadata !"oge", metadata !"fpexcept.strict")
  %zfcmpsf64 = zext i1 %rfcmpsf64 to i64
  call void @p(i64 %zfcmpsf64)
  %cif64 = call i32 @llvm.experimental.constrained.fptosi.i32.f64(double %bf64, metadata !"fpexcept.ignore")
  %zcif64 = zext i32 %cif64 to i64
  call void @p(i64 %zcif64)
  %cff64 = call double @llvm.experimental.constrained.sitofp.f64.i32(i32 %cif64, metadata !"round.dynamic", metadata !"fpexcept.ignore")
  %ncff64 = fcmp uno double %cff64, %cff64
  %bcff64 = bitcast double %cff64 to i64
  %scff64 = select i1 %ncff64, i64 1, i64 %bcff64
  call void @p(i64 %scff64)
  %csf64 = call double @llvm.experimental.constrained.sqrt.f64(double %bf64, metadata !"round.dynamic", metadata !"fpexcept.ignore")
  %ncsf64 = fcmp uno double %csf64, %csf64
  %bcsf64 = bitcast double %csf64 to i64
  %scsf64 = select i1 %ncsf64, i64 1, i64 %bcsf64
  call void @p(i64 %scsf64)
  %af32 = load volatile float, ptr @xf32
  %bf32 = load volatile float, ptr @yf32
  %rfaddf32 = call float @llvm.experimental.constrained.fadd.f32(float %af32, float %bf32, metadata !"round.tonearest", metadata !"fpexcept.ignore")
  %nfaddf32 = fcmp uno float %rfaddf32, %rfaddf32
  %bfaddf32 = bitcast float %rfaddf32 to i32
  %sfaddf32 = select i1 %nfaddf32, i32 1, i32 %bfaddf32
  %zffaddf32 = zext i32 %sfaddf32 to i64
  call void @p(i64 %zffaddf32)
  %rfsubf32 = call float @llvm.experimental.constrained.fsub.f32(float %af32, float %bf32, metadata !"round.tonearest", metadata !"fpexcept.ignore")
  %nfsubf32 = fcmp uno float %rfsubf32, %rfsubf32
  %bfsubf32 = bitcast float %rfsubf32 to i32
  %sfsubf32 = select i1 %nfsubf32, i32 1, i32 %bfsubf32
  %zffsubf32 = zext i32 %sfsubf32 to i64
  call void @p(i64 %zffsubf32)
  %rfmulf32 = call float @llvm.experimental.constrained.fmul.f32(float %af32, float %bf32, metadata !"round.tonearest", metadata !"fpexcept.ignore")
  %nfmulf32 = fcmp uno float %rfmulf32, %rfmulf32
  %bfmulf32 = bitcast float %rfmulf32 to i32
  %sfmulf32 = select i1 %nfmulf32, i32 1, i32 %bfmulf32
  %zffmulf32 = zext i32 %sfmulf32 to i64
  call void @p(i64 %zffmulf32)
  %rfdivf32 = call float @llvm.experimental.constrained.fdiv.f32(float %af32, float %bf32, metadata !"round.tonearest", metadata !"fpexcept.ignore")
  %nfdivf32 = fcmp uno float %rfdivf32, %rfdivf32
  %bfdivf32 = bitcast float %rfdivf32 to i32
  %sfdivf32 = select i1 %nfdivf32, i32 1, i32 %bfdivf32
  %zffdivf32 = zext i32 %sfdivf32 to i64
  call void @p(i64 %zffdivf32)
  %rfcmpf32 = call i1 @llvm.experimental.constrained.fcmp.f32(float %af32, float %bf32, metadata !"olt", metadata !"fpexcept.strict")
  %zfcmpf32 = zext i1 %rfcmpf32 to i64
  call void @p(i64 %zfcmpf32)
  %rfcmpsf32 = call i1 @llvm.experimental.constrained.fcmps.f32(float %af32, float %bf32, metadata !"oge", metadata !"fpexcept.strict")
  %zfcmpsf32 = zext i1 %rfcmpsf32 to i64
  call void @p(i64 %zfcmpsf32)
  %cif32 = call i32 @llvm.experimental.constrained.fptosi.i32.f32(float %bf32, metadata !"fpexcept.ignore")
  %zcif32 = zext i32 %cif32 to i64
  call void @p(i64 %zcif32)
  %cff32 = call float @llvm.experimental.constrained.sitofp.f32.i32(i32 %cif32, metadata !"round.dynamic", metadata !"fpexcept.ignore")
  %ncff32 = fcmp uno float %cff32, %cff32
  %bcff32 = bitcast float %cff32 to i32
  %scff32 = select i1 %ncff32, i32 1, i32 %bcff32
  %zfcff32 = zext i32 %scff32 to i64
  call void @p(i64 %zfcff32)
  %csf32 = call float @llvm.experimental.constrained.sqrt.f32(float %bf32, metadata !"round.dynamic", metadata !"fpexcept.ignore")
  %ncsf32 = fcmp uno float %csf32, %csf32
  %bcsf32 = bitcast float %csf32 to i32
  %scsf32 = select i1 %ncsf32, i32 1, i32 %bcsf32
  %zfcsf32 = zext i32 %scsf32 to i64
  call void @p(i64 %zfcsf32)
  call void @nlp()
  ret i32 0
}
