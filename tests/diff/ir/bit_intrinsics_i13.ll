; Counts, reversal and funnel shifts at a width that is no power of two.
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
@v = internal global [9 x i13] [i13 0, i13 1, i13 2, i13 7, i13 8191, i13 8190, i13 4096, i13 4095, i13 6746]
declare i13 @llvm.ctpop.i13(i13)
declare i13 @llvm.bitreverse.i13(i13)
declare i13 @llvm.ctlz.i13(i13, i1)
declare i13 @llvm.cttz.i13(i13, i1)
declare i13 @llvm.abs.i13(i13, i1)
declare i13 @llvm.fshl.i13(i13, i13, i13)
declare i13 @llvm.fshr.i13(i13, i13, i13)
define internal void @pair(i13 %a, i13 %b) noinline {
  %rctpop = call i13 @llvm.ctpop.i13(i13 %a)
  %zctpop = zext i13 %rctpop to i64
  call void @p(i64 %zctpop)
  %rbitreverse = call i13 @llvm.bitreverse.i13(i13 %a)
  %zbitreverse = zext i13 %rbitreverse to i64
  call void @p(i64 %zbitreverse)
  %rctlz = call i13 @llvm.ctlz.i13(i13 %a, i1 false)
  %zctlz = zext i13 %rctlz to i64
  call void @p(i64 %zctlz)
  %rcttz = call i13 @llvm.cttz.i13(i13 %a, i1 false)
  %zcttz = zext i13 %rcttz to i64
  call void @p(i64 %zcttz)
  %rabs = call i13 @llvm.abs.i13(i13 %a, i1 false)
  %zabs = zext i13 %rabs to i64
  call void @p(i64 %zabs)
  %rfshl = call i13 @llvm.fshl.i13(i13 %a, i13 %b, i13 %b)
  %zfshl = zext i13 %rfshl to i64
  call void @p(i64 %zfshl)
  %rfshr = call i13 @llvm.fshr.i13(i13 %a, i13 %b, i13 %b)
  %zfshr = zext i13 %rfshr to i64
  call void @p(i64 %zfshr)
  call void @nlp()
  ret void
}
define i32 @main() {
entry:
  br label %oi
oi:
  %i = phi i64 [ 0, %entry ], [ %i1, %on ]
  br label %oj
oj:
  %j = phi i64 [ 0, %oi ], [ %j1, %oj ]
  %pa = getelementptr [9 x i13], ptr @v, i64 0, i64 %i
  %pb = getelementptr [9 x i13], ptr @v, i64 0, i64 %j
  %a = load volatile i13, ptr %pa
  %b = load volatile i13, ptr %pb
  call void @pair(i13 %a, i13 %b)
  %j1 = add i64 %j, 1
  %jd = icmp eq i64 %j1, 9
  br i1 %jd, label %on, label %oj
on:
  %i1 = add i64 %i, 1
  %id = icmp eq i64 %i1, 9
  br i1 %id, label %end, label %oi
end:
  ret i32 0
}
