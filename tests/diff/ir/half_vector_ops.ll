; half scalars and vectors: arithmetic, comparison, conversion to and from integers.
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
@a = internal global <4 x half> <half 0xH3C00, half 0xH4000, half 0xHC200, half 0xH7BFF>
@b = internal global <4 x half> <half 0xH3800, half 0xHC000, half 0xH4200, half 0xH0001>
define internal void @show(<4 x half> %v) noinline {
  %q = bitcast <4 x half> %v to i64
  call void @p(i64 %q)
  ret void
}
define i32 @main() {
  %a = load volatile <4 x half>, ptr @a
  %b = load volatile <4 x half>, ptr @b
  %s = fadd <4 x half> %a, %b
  call void @show(<4 x half> %s)
  %m = fmul <4 x half> %a, %b
  call void @show(<4 x half> %m)
  %d = fdiv <4 x half> %b, %a
  call void @show(<4 x half> %d)
  %n = fneg <4 x half> %a
  call void @show(<4 x half> %n)
  %c = fcmp ogt <4 x half> %a, %b
  %sel = select <4 x i1> %c, <4 x half> %a, <4 x half> %b
  call void @show(<4 x half> %sel)
  %f = fpext <4 x half> %a to <4 x float>
  %f2 = fmul <4 x float> %f, splat (float 0x3FD5555560000000)
  %t = fptrunc <4 x float> %f2 to <4 x half>
  call void @show(<4 x half> %t)
  %e = extractelement <4 x half> %a, i32 3
  %i = fptoui half %e to i32
  %iz = zext i32 %i to i64
  call void @p(i64 %iz)
  %u = sitofp i32 -7 to half
  %ub = bitcast half %u to i16
  %uz = zext i16 %ub to i64
  call void @p(i64 %uz)
  call void @nlp()
  ret i32 0
}
