; A switch on a width between one and two machine words.
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
@v = internal global [6 x i72] [i72 0, i72 3, i72 1180591620717411303424, i72 7, i72 9, i72 10]
define internal i64 @sw(i72 %x) noinline {
  switch i72 %x, label %d [
    i72 0, label %l0
    i72 3, label %l0
    i72 1180591620717411303424, label %l1
    i72 7, label %l1
    i72 9, label %l4
  ]
l0:
  ret i64 1
l1:
  ret i64 2
l4:
  ret i64 5
d:
  ret i64 0
}
define i32 @main() {
entry:
  br label %l
l:
  %i = phi i64 [ 0, %entry ], [ %i1, %l ]
  %p = getelementptr [6 x i72], ptr @v, i64 0, i64 %i
  %x = load volatile i72, ptr %p
  %r = call i64 @sw(i72 %x)
  call void @p(i64 %r)
  %i1 = add i64 %i, 1
  %c = icmp eq i64 %i1, 6
  br i1 %c, label %e, label %l
e:
  call void @nlp()
  ret i32 0
}
