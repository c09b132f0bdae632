; exit: 8
; First-class structs and arrays: insertvalue, extractvalue, loads, stores, phis, selects, calls, nested and empty ones.
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
%t = type { i32, { double, [2 x i8] }, i1 }
@g = internal global %t { i32 5, { double, [2 x i8] } { double 2.5, [2 x i8] c"xy" }, i1 true }
define internal %t @bump(%t %x, {} %e, [2 x i64] %a) noinline {
  %i = extractvalue %t %x, 0
  %j = add i32 %i, 1
  %r = insertvalue %t %x, i32 %j, 0
  %k = extractvalue [2 x i64] %a, 1
  %c = trunc i64 %k to i8
  %r2 = insertvalue %t %r, i8 %c, 1, 1, 0
  ret %t %r2
}
define i32 @main() {
entry:
  %v = load %t, ptr @g
  br label %l
l:
  %x = phi %t [ %v, %entry ], [ %s, %l ]
  %n = phi i64 [ 0, %entry ], [ %n1, %l ]
  %arr = insertvalue [2 x i64] [i64 1, i64 poison], i64 %n, 1
  %y = call %t @bump(%t %x, {} undef, [2 x i64] %arr)
  %odd = trunc i64 %n to i1
  %s = select i1 %odd, %t %y, %t %x
  %n1 = add i64 %n, 1
  %c = icmp eq i64 %n1, 7
  br i1 %c, label %e, label %l
e:
  store %t %s, ptr @g
  %i = load i32, ptr @g
  %iz = zext i32 %i to i64
  call void @p(i64 %iz)
  %b = extractvalue %t %s, 1, 1, 0
  %bz = zext i8 %b to i64
  call void @p(i64 %bz)
  %d = extractvalue %t %s, 1, 0
  %db = bitcast double %d to i64
  call void @p(i64 %db)
  %f = extractvalue %t %s, 2
  %fz = zext i1 %f to i64
  call void @p(i64 %fz)
  call void @nlp()
  ret i32 %i
}
