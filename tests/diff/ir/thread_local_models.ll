; exit: 4
; thread_local globals in each model, through llvm.threadlocal.address and directly.
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
@a = internal thread_local global i64 5
@b = internal thread_local(localexec) global i64 6
@c = thread_local(initialexec) global i64 7
@d = thread_local global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
declare ptr @llvm.threadlocal.address.p0(ptr)
define i32 @main() {
  %pa = call ptr @llvm.threadlocal.address.p0(ptr @a)
  %va = load i64, ptr %pa
  %na = add i64 %va, 100
  store i64 %na, ptr %pa
  %ra = load volatile i64, ptr @a
  call void @p(i64 %ra)
  %pb = call ptr @llvm.threadlocal.address.p0(ptr @b)
  %vb = load volatile i64, ptr %pb
  call void @p(i64 %vb)
  %vc = load volatile i64, ptr @c
  call void @p(i64 %vc)
  %pd = call ptr @llvm.threadlocal.address.p0(ptr @d)
  %qd = getelementptr i32, ptr %pd, i64 3
  %vd = load i32, ptr %qd
  %zd = zext i32 %vd to i64
  call void @p(i64 %zd)
  call void @nlp()
  ret i32 %vd
}
