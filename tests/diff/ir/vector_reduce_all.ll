; Every vector reduction, integer and floating, over several element types and lengths.
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
@gi8 = internal global <16 x i8> <i8 -128, i8 -91, i8 -54, i8 -17, i8 20, i8 57, i8 94, i8 -125, i8 -88, i8 -51, i8 -14, i8 23, i8 60, i8 97, i8 -122, i8 -85>
declare i8 @llvm.vector.reduce.add.v16i8(<16 x i8>)
declare i8 @llvm.vector.reduce.mul.v16i8(<16 x i8>)
declare i8 @llvm.vector.reduce.and.v16i8(<16 x i8>)
declare i8 @llvm.vector.reduce.or.v16i8(<16 x i8>)
declare i8 @llvm.vector.reduce.xor.v16i8(<16 x i8>)
declare i8 @llvm.vector.reduce.smax.v16i8(<16 x i8>)
declare i8 @llvm.vector.reduce.smin.v16i8(<16 x i8>)
declare i8 @llvm.vector.reduce.umax.v16i8(<16 x i8>)
declare i8 @llvm.vector.reduce.umin.v16i8(<16 x i8>)
@gi32 = internal global <4 x i32> <i32 5, i32 -7, i32 123456, i32 -99999>
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.mul.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.and.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.or.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.xor.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.smax.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.smin.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.umax.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.umin.v4i32(<4 x i32>)
@gi64 = internal global <3 x i64> <i64 1099511627776, i64 -3, i64 77>
declare i64 @llvm.vector.reduce.add.v3i64(<3 x i64>)
declare i64 @llvm.vector.reduce.mul.v3i64(<3 x i64>)
declare i64 @llvm.vector.reduce.and.v3i64(<3 x i64>)
declare i64 @llvm.vector.reduce.or.v3i64(<3 x i64>)
declare i64 @llvm.vector.reduce.xor.v3i64(<3 x i64>)
declare i64 @llvm.vector.reduce.smax.v3i64(<3 x i64>)
declare i64 @llvm.vector.reduce.smin.v3i64(<3 x i64>)
declare i64 @llvm.vector.reduce.umax.v3i64(<3 x i64>)
declare i64 @llvm.vector.reduce.umin.v3i64(<3 x i64>)
@gi1 = internal global <8 x i1> <i1 1, i1 0, i1 1, i1 1, i1 0, i1 1, i1 1, i1 1>
declare i1 @llvm.vector.reduce.add.v8i1(<8 x i1>)
declare i1 @llvm.vector.reduce.mul.v8i1(<8 x i1>)
declare i1 @llvm.vector.reduce.and.v8i1(<8 x i1>)
declare i1 @llvm.vector.reduce.or.v8i1(<8 x i1>)
declare i1 @llvm.vector.reduce.xor.v8i1(<8 x i1>)
declare i1 @llvm.vector.reduce.smax.v8i1(<8 x i1>)
declare i1 @llvm.vector.reduce.smin.v8i1(<8 x i1>)
declare i1 @llvm.vector.reduce.umax.v8i1(<8 x i1>)
declare i1 @llvm.vector.reduce.umin.v8i1(<8 x i1>)
@gfloat = internal global <4 x float> <float 1.5, float -2.25, float 1024.0, float 0.0625>
declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)
declare float @llvm.vector.reduce.fmul.v4f32(float, <4 x float>)
declare float @llvm.vector.reduce.fmax.v4f32(<4 x float>)
declare float @llvm.vector.reduce.fmin.v4f32(<4 x float>)
declare float @llvm.vector.reduce.fmaximum.v4f32(<4 x float>)
declare float @llvm.vector.reduce.fminimum.v4f32(<4 x float>)
@gdouble = internal global <4 x double> <double 1.5, double -2.25, double 1024.0, double 0.0625>
declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)
declare double @llvm.vector.reduce.fmul.v4f64(double, <4 x double>)
declare double @llvm.vector.reduce.fmax.v4f64(<4 x double>)
declare double @llvm.vector.reduce.fmin.v4f64(<4 x double>)
declare double @llvm.vector.reduce.fmaximum.v4f64(<4 x double>)
declare double @llvm.vector.reduce.fminimum.v4f64(<4 x double>)
define i32 @main() {
  %vi8 = load volatile <16 x i8>, ptr @gi8
  %ri8add = call i8 @llvm.vector.reduce.add.v16i8(<16 x i8> %vi8)
  %zi8add = zext i8 %ri8add to i64
  call void @p(i64 %zi8add)
  %ri8mul = call i8 @llvm.vector.reduce.mul.v16i8(<16 x i8> %vi8)
  %zi8mul = zext i8 %ri8mul to i64
  call void @p(i64 %zi8mul)
  %ri8and = call i8 @llvm.vector.reduce.and.v16i8(<16 x i8> %vi8)
  %zi8and = zext i8 %ri8and to i64
  call void @p(i64 %zi8and)
  %ri8or = call i8 @llvm.vector.reduce.or.v16i8(<16 x i8> %vi8)
  %zi8or = zext i8 %ri8or to i64
  call void @p(i64 %zi8or)
  %ri8xor = call i8 @llvm.vector.reduce.xor.v16i8(<16 x i8> %vi8)
  %zi8xor = zext i8 %ri8xor to i64
  call void @p(i64 %zi8xor)
  %ri8smax = call i8 @llvm.vector.reduce.smax.v16i8(<16 x i8> %vi8)
  %zi8smax = zext i8 %ri8smax to i64
  call void @p(i64 %zi8smax)
  %ri8smin = call i8 @llvm.vector.reduce.smin.v16i8(<16 x i8> %vi8)
  %zi8smin = zext i8 %ri8smin to i64
  call void @p(i64 %zi8smin)
  %ri8umax = call i8 @llvm.vector.reduce.umax.v16i8(<16 x i8> %vi8)
  %zi8umax = zext i8 %ri8umax to i64
  call void @p(i64 %zi8umax)
  %ri8umin = call i8 @llvm.vector.reduce.umin.v16i8(<16 x i8> %vi8)
  %zi8umin = zext i8 %ri8umin to i64
  call void @p(i64 %zi8umin)
  %vi32 = load volatile <4 x i32>, ptr @gi32
  %ri32add = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %vi32)
  %zi32add = zext i32 %ri32add to i64
  call void @p(i64 %zi32add)
  %ri32mul = call i32 @llvm.vector.reduce.mul.v4i32(<4 x i32> %vi32)
  %zi32mul = zext i32 %ri32mul to i64
  call void @p(i64 %zi32mul)
  %ri32and = call i32 @llvm.vector.reduce.and.v4i32(<4 x i32> %vi32)
  %zi32and = zext i32 %ri32and to i64
  call void @p(i64 %zi32and)
  %ri32or = call i32 @llvm.vector.reduce.or.v4i32(<4 x i32> %vi32)
  %zi32or = zext i32 %ri32or to i64
  call void @p(i64 %zi32or)
  %ri32xor = call i32 @llvm.vector.reduce.xor.v4i32(<4 x i32> %vi32)
  %zi32xor = zext i32 %ri32xor to i64
  call void @p(i64 %zi32xor)
  %ri32smax = call i32 @llvm.vector.reduce.smax.v4i32(<4 x i32> %vi32)
  %zi32smax = zext i32 %ri32smax to i64
  call void @p(i64 %zi32smax)
  %ri32smin = call i32 @llvm.vector.reduce.smin.v4i32(<4 x i32> %vi32)
  %zi32smin = zext i32 %ri32smin to i64
  call void @p(i64 %zi32smin)
  %ri32umax = call i32 @llvm.vector.reduce.umax.v4i32(<4 x i32> %vi32)
  %zi32umax = zext i32 %ri32umax to i64
  call void @p(i64 %zi32umax)
  %ri32umin = call i32 @llvm.vector.reduce.umin.v4i32(<4 x i32> %vi32)
  %zi32umin = zext i32 %ri32umin to i64
  call void @p(i64 %zi32umin)
  %vi64 = load volatile <3 x i64>, ptr @gi64
  %ri64add = call i64 @llvm.vector.reduce.add.v3i64(<3 x i64> %vi64)
  call void @p(i64 %ri64add)
  %ri64mul = call i64 @llvm.vector.reduce.mul.v3i64(<3 x i64> %vi64)
  call void @p(i64 %ri64mul)
  %ri64and = call i64 @llvm.vector.reduce.and.v3i64(<3 x i64> %vi64)
  call void @p(i64 %ri64and)
  %ri64or = call i64 @llvm.vector.reduce.or.v3i64(<3 x i64> %vi64)
  call void @p(i64 %ri64or)
  %ri64xor = call i64 @llvm.vector.reduce.xor.v3i64(<3 x i64> %vi64)
  call void @p(i64 %ri64xor)
  %ri64smax = call i64 @llvm.vector.reduce.smax.v3i64(<3 x i64> %vi64)
  call void @p(i64 %ri64smax)
  %ri64smin = call i64 @llvm.vector.reduce.smin.v3i64(<3 x i64> %vi64)
  call void @p(i64 %ri64smin)
  %ri64umax = call i64 @llvm.vector.reduce.umax.v3i64(<3 x i64> %vi64)
  call void @p(i64 %ri64umax)
  %ri64umin = call i64 @llvm.vector.reduce.umin.v3i64(<3 x i64> %vi64)
  call void @p(i64 %ri64umin)
  %vi1 = load volatile <8 x i1>, ptr @gi1
  %ri1add = call i1 @llvm.vector.reduce.add.v8i1(<8 x i1> %vi1)
  %zi1add = zext i1 %ri1add to i64
  call void @p(i64 %zi1add)
  %ri1mul = call i1 @llvm.vector.reduce.mul.v8i1(<8 x i1> %vi1)
  %zi1mul = zext i1 %ri1mul to i64
  call void @p(i64 %zi1mul)
  %ri1and = call i1 @llvm.vector.reduce.and.v8i1(<8 x i1> %vi1)
  %zi1and = zext i1 %ri1and to i64
  call void @p(i64 %zi1and)
  %ri1or = call i1 @llvm.vector.reduce.or.v8i1(<8 x i1> %vi1)
  %zi1or = zext i1 %ri1or to i64
  call void @p(i64 %zi1or)
  %ri1xor = call i1 @llvm.vector.reduce.xor.v8i1(<8 x i1> %vi1)
  %zi1xor = zext i1 %ri1xor to i64
  call void @p(i64 %zi1xor)
  %ri1smax = call i1 @llvm.vector.reduce.smax.v8i1(<8 x i1> %vi1)
  %zi1smax = zext i1 %ri1smax to i64
  call void @p(i64 %zi1smax)
  %ri1smin = call i1 @llvm.vector.reduce.smin.v8i1(<8 x i1> %vi1)
  %zi1smin = zext i1 %ri1smin to i64
  call void @p(i64 %zi1smin)
  %ri1umax = call i1 @llvm.vector.reduce.umax.v8i1(<8 x i1> %vi1)
  %zi1umax = zext i1 %ri1umax to i64
  call void @p(i64 %zi1umax)
  %ri1umin = call i1 @llvm.vector.reduce.umin.v8i1(<8 x i1> %vi1)
  %zi1umin = zext i1 %ri1umin to i64
  call void @p(i64 %zi1umin)
  %vfloat = load volatile <4 x float>, ptr @gfloat
  %rfloatfadd = call float @llvm.vector.reduce.fadd.v4f32(float 3.0, <4 x float> %vfloat)
  %nfloatfadd = fcmp uno float %rfloatfadd, %rfloatfadd
  %bfloatfadd = bitcast float %rfloatfadd to i32
  %sfloatfadd = select i1 %nfloatfadd, i32 1, i32 %bfloatfadd
  %zffloatfadd = zext i32 %sfloatfadd to i64
  call void @p(i64 %zffloatfadd)
  %rfloatfmul = call float @llvm.vector.reduce.fmul.v4f32(float 3.0, <4 x float> %vfloat)
  %nfloatfmul = fcmp uno float %rfloatfmul, %rfloatfmul
  %bfloatfmul = bitcast float %rfloatfmul to i32
  %sfloatfmul = select i1 %nfloatfmul, i32 1, i32 %bfloatfmul
  %zffloatfmul = zext i32 %sfloatfmul to i64
  call void @p(i64 %zffloatfmul)
  %rfloatfmax = call float @llvm.vector.reduce.fmax.v4f32(<4 x float> %vfloat)
  %nfloatfmax = fcmp uno float %rfloatfmax, %rfloatfmax
  %bfloatfmax = bitcast float %rfloatfmax to i32
  %sfloatfmax = select i1 %nfloatfmax, i32 1, i32 %bfloatfmax
  %zffloatfmax = zext i32 %sfloatfmax to i64
  call void @p(i64 %zffloatfmax)
  %rfloatfmin = call float @llvm.vector.reduce.fmin.v4f32(<4 x float> %vfloat)
  %nfloatfmin = fcmp uno float %rfloatfmin, %rfloatfmin
  %bfloatfmin = bitcast float %rfloatfmin to i32
  %sfloatfmin = select i1 %nfloatfmin, i32 1, i32 %bfloatfmin
  %zffloatfmin = zext i32 %sfloatfmin to i64
  call void @p(i64 %zffloatfmin)
  %rfloatfmaximum = call float @llvm.vector.reduce.fmaximum.v4f32(<4 x float> %vfloat)
  %nfloatfmaximum = fcmp uno float %rfloatfmaximum, %rfloatfmaximum
  %bfloatfmaximum = bitcast float %rfloatfmaximum to i32
  %sfloatfmaximum = select i1 %nfloatfmaximum, i32 1, i32 %bfloatfmaximum
  %zffloatfmaximum = zext i32 %sfloatfmaximum to i64
  call void @p(i64 %zffloatfmaximum)
  %rfloatfminimum = call float @llvm.vector.reduce.fminimum.v4f32(<4 x float> %vfloat)
  %nfloatfminimum = fcmp uno float %rfloatfminimum, %rfloatfminimum
  %bfloatfminimum = bitcast float %rfloatfminimum to i32
  %sfloatfminimum = select i1 %nfloatfminimum, i32 1, i32 %bfloatfminimum
  %zffloatfminimum = zext i32 %sfloatfminimum to i64
  call void @p(i64 %zffloatfminimum)
  %vdouble = load volatile <4 x double>, ptr @gdouble
  %rdoublefadd = call double @llvm.vector.reduce.fadd.v4f64(double 3.0, <4 x double> %vdouble)
  %ndoublefadd = fcmp uno double %rdoublefadd, %rdoublefadd
  %bdoublefadd = bitcast double %rdoublefadd to i64
  %sdoublefadd = select i1 %ndoublefadd, i64 1, i64 %bdoublefadd
  call void @p(i64 %sdoublefadd)
  %rdoublefmul = call double @llvm.vector.reduce.fmul.v4f64(double 3.0, <4 x double> %vdouble)
  %ndoublefmul = fcmp uno double %rdoublefmul, %rdoublefmul
  %bdoublefmul = bitcast double %rdoublefmul to i64
  %sdoublefmul = select i1 %ndoublefmul, i64 1, i64 %bdoublefmul
  call void @p(i64 %sdoublefmul)
  %rdoublefmax = call double @llvm.vector.reduce.fmax.v4f64(<4 x double> %vdouble)
  %ndoublefmax = fcmp uno double %rdoublefmax, %rdoublefmax
  %bdoublefmax = bitcast double %rdoublefmax to i64
  %sdoublefmax = select i1 %ndoublefmax, i64 1, i64 %bdoublefmax
  call void @p(i64 %sdoublefmax)
  %rdoublefmin = call double @llvm.vector.reduce.fmin.v4f64(<4 x double> %vdouble)
  %ndoublefmin = fcmp uno double %rdoublefmin, %rdoublefmin
  %bdoublefmin = bitcast double %rdoublefmin to i64
  %sdoublefmin = select i1 %ndoublefmin, i64 1, i64 %bdoublefmin
  call void @p(i64 %sdoublefmin)
  %rdoublefmaximum = call double @llvm.vector.reduce.fmaximum.v4f64(<4 x double> %vdouble)
  %ndoublefmaximum = fcmp uno double %rdoublefmaximum, %rdoublefmaximum
  %bdoublefmaximum = bitcast double %rdoublefmaximum to i64
  %sdoublefmaximum = select i1 %ndoublefmaximum, i64 1, i64 %bdoublefmaximum
  call void @p(i64 %sdoublefmaximum)
  %rdoublefminimum = call double @llvm.vector.reduce.fminimum.v4f64(<4 x double> %vdouble)
  %ndoublefminimum = fcmp uno double %rdoublefminimum, %rdoublefminimum
  %bdoublefminimum = bitcast double %rdoublefminimum to i64
  %sdoublefminimum = select i1 %ndoublefminimum, i64 1, i64 %bdoublefminimum
  call void @p(i64 %sdoublefminimum)
  call void @nlp()
  ret i32 0
}
