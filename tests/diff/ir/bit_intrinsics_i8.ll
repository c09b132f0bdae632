; Funnel shifts, counts, reversal, abs and three-way comparison at i8.
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
@v = internal global [9 x i8] [i8 0, i8 1, i8 2, i8 7, i8 255, i8 254, i8 128, i8 127, i8 90]
declare i8 @llvm.fshl.i8(i8, i8, i8)
declare i8 @llvm.fshr.i8(i8, i8, i8)
declare i8 @llvm.ctpop.i8(i8)
declare i8 @llvm.bitreverse.i8(i8)
declare i8 @llvm.ctlz.i8(i8, i1)
declare i8 @llvm.cttz.i8(i8, i1)
declare i8 @llvm.abs.i8(i8, i1)
declare i32 @llvm.scmp.i32.i8(i8, i8)
declare i32 @llvm.ucmp.i32.i8(i8, i8)
define internal void @pair(i8 %a, i8 %b) noinline {
  %rfshl = call i8 @llvm.fshl.i8(i8 %a, i8 %b, i8 %b)
  %zfshl = zext i8 %rfshl to i64
  call void @p(i64 %zfshl)
  %kfshl = call i8 @llvm.fshl.i8(i8 %a, i8 %b, i8 5)
  %zkfshl = zext i8 %kfshl to i64
  call void @p(i64 %zkfshl)
  %rfshr = call i8 @llvm.fshr.i8(i8 %a, i8 %b, i8 %b)
  %zfshr = zext i8 %rfshr to i64
  call void @p(i64 %zfshr)
  %kfshr = call i8 @llvm.fshr.i8(i8 %a, i8 %b, i8 5)
  %zkfshr = zext i8 %kfshr to i64
  call void @p(i64 %zkfshr)
  %rctpop = call i8 @llvm.ctpop.i8(i8 %a)
  %zctpop = zext i8 %rctpop to i64
  call void @p(i64 %zctpop)
  %rbitreverse = call i8 @llvm.bitreverse.i8(i8 %a)
  %zbitreverse = zext i8 %rbitreverse to i64
  call void @p(i64 %zbitreverse)
  %rctlz = call i8 @llvm.ctlz.i8(i8 %a, i1 false)
  %zctlz = zext i8 %rctlz to i64
  call void @p(i64 %zctlz)
  %rcttz = call i8 @llvm.cttz.i8(i8 %a, i1 false)
  %zcttz = zext i8 %rcttz to i64
  call void @p(i64 %zcttz)
  %rabs = call i8 @llvm.abs.i8(i8 %a, i1 false)
  %zabs = zext i8 %rabs to i64
  call void @p(i64 %zabs)
  %rscmp = call i32 @llvm.scmp.i32.i8(i8 %a, i8 %b)
  %zscmp = zext i32 %rscmp to i64
  call void @p(i64 %zscmp)
  %rucmp = call i32 @llvm.ucmp.i32.i8(i8 %a, i8 %b)
  %zucmp = zext i32 %rucmp to i64
  call void @p(i64 %zucmp)
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
  %pa = getelementptr [9 x i8], ptr @v, i64 0, i64 %i
  %pb = getelementptr [9 x i8], ptr @v, i64 0, i64 %j
  %a = load volatile i8, ptr %pa
  %b = load volatile i8, ptr %pb
  call void @pair(i8 %a, i8 %b)
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
