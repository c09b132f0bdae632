; Funnel shifts, counts, reversal, abs and three-way comparison at i32.
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
@v = internal global [9 x i32] [i32 0, i32 1, i32 2, i32 7, i32 4294967295, i32 4294967294, i32 2147483648, i32 2147483647, i32 1515870810]
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.fshr.i32(i32, i32, i32)
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.bitreverse.i32(i32)
declare i32 @llvm.bswap.i32(i32)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.abs.i32(i32, i1)
declare i32 @llvm.scmp.i32.i32(i32, i32)
declare i32 @llvm.ucmp.i32.i32(i32, i32)
define internal void @pair(i32 %a, i32 %b) noinline {
  %rfshl = call i32 @llvm.fshl.i32(i32 %a, i32 %b, i32 %b)
  %zfshl = zext i32 %rfshl to i64
  call void @p(i64 %zfshl)
  %kfshl = call i32 @llvm.fshl.i32(i32 %a, i32 %b, i32 5)
  %zkfshl = zext i32 %kfshl to i64
  call void @p(i64 %zkfshl)
  %rfshr = call i32 @llvm.fshr.i32(i32 %a, i32 %b, i32 %b)
  %zfshr = zext i32 %rfshr to i64
  call void @p(i64 %zfshr)
  %kfshr = call i32 @llvm.fshr.i32(i32 %a, i32 %b, i32 5)
  %zkfshr = zext i32 %kfshr to i64
  call void @p(i64 %zkfshr)
  %rctpop = call i32 @llvm.ctpop.i32(i32 %a)
  %zctpop = zext i32 %rctpop to i64
  call void @p(i64 %zctpop)
  %rbitreverse = call i32 @llvm.bitreverse.i32(i32 %a)
  %zbitreverse = zext i32 %rbitreverse to i64
  call void @p(i64 %zbitreverse)
  %rbswap = call i32 @llvm.bswap.i32(i32 %a)
  %zbswap = zext i32 %rbswap to i64
  call void @p(i64 %zbswap)
  %rctlz = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
  %zctlz = zext i32 %rctlz to i64
  call void @p(i64 %zctlz)
  %rcttz = call i32 @llvm.cttz.i32(i32 %a, i1 false)
  %zcttz = zext i32 %rcttz to i64
  call void @p(i64 %zcttz)
  %rabs = call i32 @llvm.abs.i32(i32 %a, i1 false)
  %zabs = zext i32 %rabs to i64
  call void @p(i64 %zabs)
  %rscmp = call i32 @llvm.scmp.i32.i32(i32 %a, i32 %b)
  %zscmp = zext i32 %rscmp to i64
  call void @p(i64 %zscmp)
  %rucmp = call i32 @llvm.ucmp.i32.i32(i32 %a, i32 %b)
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
  %pa = getelementptr [9 x i32], ptr @v, i64 0, i64 %i
  %pb = getelementptr [9 x i32], ptr @v, i64 0, i64 %j
  %a = load volatile i32, ptr %pa
  %b = load volatile i32, ptr %pb
  call void @pair(i32 %a, i32 %b)
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
