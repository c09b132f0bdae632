; exit: 9
; shufflevector with undefined mask lanes, insertelement and extractelement with variable index, splats.
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
@idx = internal global i32 2
define internal void @v4(<4 x i32> %v) noinline {
  %a = extractelement <4 x i32> %v, i32 0
  %b = extractelement <4 x i32> %v, i64 1
  %c = extractelement <4 x i32> %v, i8 2
  %d = extractelement <4 x i32> %v, i32 3
  %az = zext i32 %a to i64
  %bz = zext i32 %b to i64
  %cz = zext i32 %c to i64
  %dz = zext i32 %d to i64
  call void @p(i64 %az)
  call void @p(i64 %bz)
  call void @p(i64 %cz)
  call void @p(i64 %dz)
  ret void
}
define i32 @main() {
  %i = load volatile i32, ptr @idx
  %v0 = insertelement <4 x i32> <i32 10, i32 20, i32 30, i32 40>, i32 %i, i32 %i
  call void @v4(<4 x i32> %v0)
  %e = extractelement <4 x i32> <i32 7, i32 8, i32 9, i32 10>, i32 %i
  %ez = zext i32 %e to i64
  call void @p(i64 %ez)
  %s = shufflevector <4 x i32> %v0, <4 x i32> poison, <4 x i32> <i32 3, i32 undef, i32 1, i32 poison>
  %s2 = insertelement <4 x i32> %s, i32 1, i32 1
  %s3 = insertelement <4 x i32> %s2, i32 3, i32 3
  call void @v4(<4 x i32> %s3)
  %t = shufflevector <2 x i32> <i32 5, i32 6>, <2 x i32> <i32 7, i32 8>, <4 x i32> <i32 3, i32 2, i32 1, i32 0>
  call void @v4(<4 x i32> %t)
  %one = insertelement <4 x i32> poison, i32 %i, i64 0
  %splat = shufflevector <4 x i32> %one, <4 x i32> poison, <4 x i32> zeroinitializer
  %sum = add <4 x i32> %splat, splat (i32 100)
  call void @v4(<4 x i32> %sum)
  %w = shufflevector <4 x i32> %v0, <4 x i32> %sum, <8 x i32> <i32 0, i32 4, i32 1, i32 5, i32 2, i32 6, i32 3, i32 7>
  %n = shufflevector <8 x i32> %w, <8 x i32> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  call void @v4(<4 x i32> %n)
  call void @nlp()
  ret i32 %e
}
