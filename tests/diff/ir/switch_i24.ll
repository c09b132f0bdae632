; A switch on i24 with negative cases.
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
@v = internal global [8 x i24] [i24 0, i24 1, i24 2, i24 -1, i24 8388607, i24 -8388608, i24 77, i24 78]
define internal i64 @sw(i24 %x) noinline {
  switch i24 %x, label %d [
    i24 0, label %l0
    i24 1, label %l0
    i24 -1, label %l1
    i24 8388607, label %l1
    i24 -8388608, label %l4
    i24 77, label %l5
  ]
l0:
  ret i64 1
l1:
  ret i64 2
l4:
  ret i64 5
l5:
  ret i64 6
d:
  ret i64 0
}
define i32 @main() {
entry:
  br label %l
l:
  %i = phi i64 [ 0, %entry ], [ %i1, %l ]
  %p = getelementptr [8 x i24], ptr @v, i64 0, i64 %i
  %x = load volatile i24, ptr %p
  %r = call i64 @sw(i24 %x)
  call void @p(i64 %r)
  %i1 = add i64 %i, 1
  %c = icmp eq i64 %i1, 8
  br i1 %c, label %e, label %l
e:
  call void @nlp()
  ret i32 0
}
