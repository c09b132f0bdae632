; The va_arg instruction on integers, pointers and doubles, with va_start, va_copy and va_end.
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
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_end.p0(ptr)
declare void @llvm.va_copy.p0(ptr, ptr)
@g = internal global i64 1000
define internal i64 @sum(i32 %n, ...) noinline {
entry:
  %ap = alloca [24 x i8], align 16
  %bp = alloca [24 x i8], align 16
  call void @llvm.va_start.p0(ptr %ap)
  br label %l
l:
  %i = phi i32 [ 0, %entry ], [ %i1, %l ]
  %s = phi i64 [ 0, %entry ], [ %s3, %l ]
  %a = va_arg ptr %ap, i32
  %d = va_arg ptr %ap, double
  %p = va_arg ptr %ap, ptr
  call void @llvm.va_copy.p0(ptr %bp, ptr %ap)
  %x = va_arg ptr %ap, i64
  %y = va_arg ptr %bp, i64
  call void @llvm.va_end.p0(ptr %bp)
  %az = sext i32 %a to i64
  %di = fptosi double %d to i64
  %pv = load i64, ptr %p
  %s1 = add i64 %s, %az
  %s2 = add i64 %s1, %di
  %q = add i64 %pv, %s2
  %xy = add i64 %x, %y
  %s3 = add i64 %q, %xy
  %i1 = add i32 %i, 1
  %c = icmp eq i32 %i1, %n
  br i1 %c, label %e, label %l
e:
  call void @llvm.va_end.p0(ptr %ap)
  ret i64 %s3
}
define i32 @main() {
  %r = call i64 (i32, ...) @sum(i32 4, i32 1, double 2.5, ptr @g, i64 3, i32 -4, double 5.5, ptr @g, i64 6, i32 7, double 8.0, ptr @g, i64 9, i32 10, double 11.0, ptr @g, i64 12)
  call void @p(i64 %r)
  call void @nlp()
  ret i32 0
}
