; exit: 14
; byval with alignment, sret, returned, fastcc and coldcc callees, tail and notail calls.
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
%s = type { i64, i64, i64, i32 }
@g = internal global %s { i64 1, i64 2, i64 3, i32 4 }
define internal fastcc void @mk(ptr noalias sret(%s) align 8 %r, ptr byval(%s) align 16 %x, i64 %k) noinline {
  %a = load i64, ptr %x
  %b = mul i64 %a, %k
  store i64 %b, ptr %x
  %q = getelementptr %s, ptr %x, i64 0, i32 3
  %v = load i32, ptr %q
  %v2 = add i32 %v, 10
  store i32 %v2, ptr %q
  %c = load %s, ptr %x
  store %s %c, ptr %r
  ret void
}
define internal coldcc i64 @cold(i64 inreg %x, i64 signext %y) noinline {
  %r = sub i64 %x, %y
  ret i64 %r
}
define i32 @main() {
  %r = alloca %s, align 8
  call fastcc void @mk(ptr sret(%s) align 8 %r, ptr byval(%s) align 16 @g, i64 50)
  %a = load i64, ptr %r
  call void @p(i64 %a)
  %q = getelementptr %s, ptr %r, i64 0, i32 3
  %v = load i32, ptr %q
  %z = zext i32 %v to i64
  call void @p(i64 %z)
  %o = load volatile i64, ptr @g
  call void @p(i64 %o)
  %c = notail call coldcc i64 @cold(i64 inreg 100, i64 signext -1)
  call void @p(i64 %c)
  call void @nlp()
  ret i32 %v
}
