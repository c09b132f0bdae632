; musttail between two functions with the same prototype, two hundred thousand calls deep.
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
@tot = internal global i64 0
define internal i64 @a(i64 %n, i64 %s) noinline {
  %z = icmp eq i64 %n, 0
  br i1 %z, label %d, label %g
d:
  ret i64 %s
g:
  %m = sub i64 %n, 1
  %t = add i64 %s, %n
  %r = musttail call i64 @b(i64 %m, i64 %t)
  ret i64 %r
}
define internal i64 @b(i64 %n, i64 %s) noinline {
  %z = icmp eq i64 %n, 0
  br i1 %z, label %d, label %g
d:
  ret i64 %s
g:
  %m = sub i64 %n, 1
  %t = xor i64 %s, %n
  %r = musttail call i64 @a(i64 %m, i64 %t)
  ret i64 %r
}
define i32 @main() {
  %r = call i64 @a(i64 200000, i64 0)
  call void @p(i64 %r)
  call void @nlp()
  ret i32 0
}
