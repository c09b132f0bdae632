; memcpy, memmove, memset and their inline forms with constant and variable lengths, lifetime markers, stack save.
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
@a = internal global [16 x i8] c"0123456789abcdef"
@n = internal global i64 5
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memcpy.inline.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i32(ptr, ptr, i32, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memset.inline.p0.i64(ptr, i8, i64, i1)
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
declare void @llvm.assume(i1)
declare i64 @llvm.objectsize.i64.p0(ptr, i1, i1, i1)
declare ptr @llvm.launder.invariant.group.p0(ptr)
declare i64 @llvm.expect.i64(i64, i64)
declare i1 @llvm.is.constant.i64(i64)
declare void @llvm.donothing()
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
define i32 @main() {
  %b = alloca [16 x i8], align 16
  call void @llvm.lifetime.start.p0(ptr %b)
  call void @llvm.memset.p0.i64(ptr %b, i8 33, i64 16, i1 false)
  %n = load volatile i64, ptr @n
  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr @a, i64 %n, i1 false)
  call void @llvm.memcpy.inline.p0.p0.i64(ptr getelementptr (i8, ptr @a, i64 12), ptr @a, i64 2, i1 true)
  %b2 = getelementptr i8, ptr %b, i64 2
  call void @llvm.memmove.p0.p0.i32(ptr %b2, ptr %b, i32 8, i1 false)
  %b12 = getelementptr i8, ptr %b, i64 12
  call void @llvm.memset.inline.p0.i64(ptr %b12, i8 90, i64 3, i1 false)
  %lo = load i64, ptr %b
  call void @p(i64 %lo)
  %b8 = getelementptr i8, ptr %b, i64 8
  %hi = load i64, ptr %b8
  call void @p(i64 %hi)
  %t = load i64, ptr getelementptr (i8, ptr @a, i64 8)
  call void @p(i64 %t)
  %sp = call ptr @llvm.stacksave.p0()
  %dyn = alloca i64, i64 %n
  store i64 77, ptr %dyn
  %dv = load i64, ptr %dyn
  call void @p(i64 %dv)
  call void @llvm.stackrestore.p0(ptr %sp)
  call void @llvm.assume(i1 true) [ "align"(ptr %b, i64 16) ]
  call void @llvm.donothing()
  call void @llvm.prefetch.p0(ptr %b, i32 0, i32 3, i32 1)
  %e = call i64 @llvm.expect.i64(i64 %n, i64 5)
  call void @p(i64 %e)
  %lp = call ptr @llvm.launder.invariant.group.p0(ptr %b8)
  %pm = call ptr @llvm.ptrmask.p0.i64(ptr %lp, i64 -16)
  %same = icmp eq ptr %pm, %b
  %sz = zext i1 %same to i64
  call void @p(i64 %sz)
  call void @llvm.lifetime.end.p0(ptr %b)
  call void @nlp()
  ret i32 0
}
