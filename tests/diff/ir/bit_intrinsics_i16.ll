; Funnel shifts, counts, reversal, abs and three-way comparison at i16.
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
@v = internal global [9 x i16] [i16 0, i16 1, i16 2, i16 7, i16 65535, i16 65534, i16 32768, i16 32767, i16 23130]
declare i16 @llvm.fshl.i16(i16, i16, i16)
declare i16 @llvm.fshr.i16(i16, i16, i16)
declare i16 @llvm.ctpop.i16(i16)
declare i16 @llvm.bitreverse.i16(i16)
declare i16 @llvm.bswap.i16(i16)
declare i16 @llvm.ctlz.i16(i16, i1)
declare i16 @llvm.cttz.i16(i16, i1)
declare i16 @llvm.abs.i16(i16, i1)
declare i32 @llvm.scmp.i32.i16(i16, i16)
declare i32 @llvm.ucmp.i32.i16(i16, i16)
define internal void @pair(i16 %a, i16 %b) noinline {
  %rfshl = call i16 @llvm.fshl.i16(i16 %a, i16 %b, i16 %b)
  %zfshl = zext i16 %rfshl to i64
  call void @p(i64 %zfshl)
  %kfshl = call i16 @llvm.fshl.i16(i16 %a, i16 %b, i16 5)
  %zkfshl = zext i16 %kfshl to i64
  call void @p(i64 %zkfshl)
  %rfshr = call i16 @llvm.fshr.i16(i16 %a, i16 %b, i16 %b)
  %zfshr = zext i16 %rfshr to i64
  call void @p(i64 %zfshr)
  %kfshr = call i16 @llvm.fshr.i16(i16 %a, i16 %b, i16 5)
  %zkfshr = zext i16 %kfshr to i64
  call void @p(i64 %zkfshr)
  %rctpop = call i16 @llvm.ctpop.i16(i16 %a)
  %zctpop = zext i16 %rctpop to i64
  call void @p(i64 %zctpop)
  %rbitreverse = call i16 @llvm.bitreverse.i16(i16 %a)
  %zbitreverse = zext i16 %rbitreverse to i64
  call void @p(i64 %zbitreverse)
  %rbswap = call i16 @llvm.bswap.i16(i16 %a)
  %zbswap = zext i16 %rbswap to i64
  call void @p(i64 %zbswap)
  %rctlz = call i16 @llvm.ctlz.i16(i16 %a, i1 false)
  %zctlz = zext i16 %rctlz to i64
  call void @p(i64 %zctlz)
  %rcttz = call i16 @llvm.cttz.i16(i16 %a, i1 false)
  %zcttz = zext i16 %rcttz to i64
  call void @p(i64 %zcttz)
  %rabs = call i16 @llvm.abs.i16(i16 %a, i1 false)
  %zabs = zext i16 %rabs to i64
  call void @p(i64 %zabs)
  %rscmp = call i32 @llvm.scmp.i32.i16(i16 %a, i16 %b)
  %zscmp = zext i32 %rscmp to i64
  call void @p(i64 %zscmp)
  %rucmp = call i32 @llvm.ucmp.i32.i16(i16 %a, i16 %b)
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
  %pa = getelementptr [9 x i16], ptr @v, i64 0, i64 %i
  %pb = getelementptr [9 x i16], ptr @v, i64 0, i64 %j
  %a = load volatile i16, ptr %pa
  %b = load volatile i16, ptr %pb
  call void @pair(i16 %a, i16 %b)
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
