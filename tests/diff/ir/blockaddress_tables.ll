; blockaddress constants in globals, indirectbr, and comparison of block addresses.
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
@tab = internal global [3 x ptr] [ptr blockaddress(@run, %a), ptr blockaddress(@run, %b), ptr blockaddress(@run, %c)]
@off = internal constant [2 x i32] [i32 trunc (i64 sub (i64 ptrtoint (ptr blockaddress(@run, %b) to i64), i64 ptrtoint (ptr blockaddress(@run, %b) to i64)) to i32), i32 5]
define internal i64 @run(i64 %i) noinline {
entry:
  %p = getelementptr [3 x ptr], ptr @tab, i64 0, i64 %i
  %t = load volatile ptr, ptr %p
  indirectbr ptr %t, [label %a, label %b, label %c]
a:
  %x = phi i64 [ 1, %entry ], [ 100, %c ]
  ret i64 %x
b:
  ret i64 2
c:
  %eq = icmp eq ptr %t, blockaddress(@run, %c)
  br i1 %eq, label %a, label %b
}
define i32 @main() {
  %r0 = call i64 @run(i64 0)
  call void @p(i64 %r0)
  %r1 = call i64 @run(i64 1)
  call void @p(i64 %r1)
  %r2 = call i64 @run(i64 2)
  call void @p(i64 %r2)
  %o = load i32, ptr @off
  call void @nlp()
  ret i32 %o
}
