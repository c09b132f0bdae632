; A switch on i128 with cases beyond 64 bits.
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
@v = internal global [10 x i128] [i128 0, i128 1, i128 2, i128 18446744073709551616, i128 18446744073709551617, i128 18446744073709551618, i128 -1, i128 85070591730234615865843651857942052864, i128 5, i128 170141183460469231731687303715884105728]
define internal i64 @sw(i128 %x) noinline {
  switch i128 %x, label %d [
    i128 0, label %l0
    i128 1, label %l0
    i128 18446744073709551616, label %l1
    i128 18446744073709551617, label %l1
    i128 -1, label %l4
    i128 85070591730234615865843651857942052864, label %l5
    i128 5, label %l6
  ]
l0:
  ret i64 1
l1:
  ret i64 2
l4:
  ret i64 5
l5:
  ret i64 6
l6:
  ret i64 7
d:
  ret i64 0
}
define i32 @main() {
entry:
  br label %l
l:
  %i = phi i64 [ 0, %entry ], [ %i1, %l ]
  %p = getelementptr [10 x i128], ptr @v, i64 0, i64 %i
  %x = load volatile i128, ptr %p
  %r = call i64 @sw(i128 %x)
  call void @p(i64 %r)
  %i1 = add i64 %i, 1
  %c = icmp eq i64 %i1, 10
  br i1 %c, label %e, label %l
e:
  call void @nlp()
  ret i32 0
}
