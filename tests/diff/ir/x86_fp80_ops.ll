; exit: 9
; x86_fp80 arithmetic, comparison, conversion, constants and memory.
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
@a = internal global x86_fp80 0xK4000C90FDAA22168C235
@b = internal global x86_fp80 0xKBFFF8000000000000000
define internal void @show(x86_fp80 %x) noinline {
  %i = bitcast x86_fp80 %x to i80
  %lo = trunc i80 %i to i64
  %h = lshr i80 %i, 64
  %hi = trunc i80 %h to i64
  call void @p(i64 %hi)
  call void @p(i64 %lo)
  ret void
}
declare x86_fp80 @llvm.fabs.f80(x86_fp80)
declare x86_fp80 @llvm.sqrt.f80(x86_fp80)
define i32 @main() {
  %a = load volatile x86_fp80, ptr @a
  %b = load volatile x86_fp80, ptr @b
  %s = fadd x86_fp80 %a, %b
  call void @show(x86_fp80 %s)
  %d = fdiv x86_fp80 %b, %a
  call void @show(x86_fp80 %d)
  %m = fmul x86_fp80 %a, %a
  call void @show(x86_fp80 %m)
  %n = fneg x86_fp80 %m
  call void @show(x86_fp80 %n)
  %ab = call x86_fp80 @llvm.fabs.f80(x86_fp80 %b)
  call void @show(x86_fp80 %ab)
  %sq = call x86_fp80 @llvm.sqrt.f80(x86_fp80 %a)
  call void @show(x86_fp80 %sq)
  %t = fptrunc x86_fp80 %a to double
  %tb = bitcast double %t to i64
  call void @p(i64 %tb)
  %e = fpext double %t to x86_fp80
  call void @show(x86_fp80 %e)
  %c = fcmp olt x86_fp80 %e, %a
  %cz = zext i1 %c to i64
  call void @p(i64 %cz)
  %i = fptosi x86_fp80 %m to i32
  %iz = zext i32 %i to i64
  call void @p(i64 %iz)
  %f = uitofp i64 -1 to x86_fp80
  call void @show(x86_fp80 %f)
  call void @nlp()
  ret i32 %i
}
