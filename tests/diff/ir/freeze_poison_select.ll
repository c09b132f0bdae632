; exit: 7
; freeze of poison and undef, selects whose untaken arm is poison, poison in vectors.
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
@g = internal global i32 6
define internal i32 @f(i1 %c, i32 %x) noinline {
  %bad = add nuw nsw i32 %x, 1
  %s = select i1 %c, i32 %bad, i32 poison
  ret i32 %s
}
define i32 @main() {
  %x = load volatile i32, ptr @g
  %r = call i32 @f(i1 true, i32 %x)
  %z = zext i32 %r to i64
  call void @p(i64 %z)
  %u = freeze i32 undef
  %same = icmp eq i32 %u, %u
  %sz = zext i1 %same to i64
  call void @p(i64 %sz)
  %q = freeze i64 poison
  %d = sub i64 %q, %q
  call void @p(i64 %d)
  %fv = freeze <4 x i32> <i32 1, i32 undef, i32 3, i32 poison>
  %e = extractelement <4 x i32> %fv, i32 2
  %ez = zext i32 %e to i64
  call void @p(i64 %ez)
  %and = and i32 %u, 0
  %az = zext i32 %and to i64
  call void @p(i64 %az)
  %agg = freeze {i32, i64} {i32 4, i64 8}
  %av = extractvalue {i32, i64} %agg, 1
  call void @p(i64 %av)
  %ff = freeze double 1.5
  %fb = bitcast double %ff to i64
  call void @p(i64 %fb)
  %or = select i1 %same, i1 true, i1 poison
  %oz = zext i1 %or to i64
  call void @p(i64 %oz)
  call void @nlp()
  ret i32 %r
}
