; exit: 5
; llvm.global_ctors and llvm.global_dtors with priorities, written by hand.
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
@llvm.global_ctors = appending global [3 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @c3, ptr null }, { i32, ptr, ptr } { i32 101, ptr @c1, ptr null }, { i32, ptr, ptr } { i32 200, ptr @c2, ptr null }]
@llvm.global_dtors = appending global [2 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @d2, ptr null }, { i32, ptr, ptr } { i32 101, ptr @d1, ptr null }]
@n = internal global i64 0
define internal void @step(i64 %k) noinline {
  %a = load i64, ptr @n
  %b = mul i64 %a, 16
  %c = add i64 %b, %k
  store i64 %c, ptr @n
  call void @p(i64 %c)
  ret void
}
define internal void @c1() {
  call void @step(i64 1)
  ret void
}
define internal void @c2() {
  call void @step(i64 2)
  ret void
}
define internal void @c3() {
  call void @step(i64 3)
  ret void
}
define internal void @d1() {
  call void @step(i64 13)
  ret void
}
define internal void @d2() {
  call void @step(i64 14)
  ret void
}
define i32 @main() {
  call void @step(i64 9)
  ret i32 5
}
