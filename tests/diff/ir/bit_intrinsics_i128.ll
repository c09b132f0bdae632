; Funnel shifts, counts, reversal, abs and three-way comparison at i128.
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
@v = internal global [9 x i128] [i128 0, i128 1, i128 2, i128 7, i128 340282366920938463463374607431768211455, i128 340282366920938463463374607431768211454, i128 170141183460469231731687303715884105728, i128 170141183460469231731687303715884105727, i128 426679701040457355778650]
declare i128 @llvm.fshl.i128(i128, i128, i128)
declare i128 @llvm.fshr.i128(i128, i128, i128)
declare i128 @llvm.ctpop.i128(i128)
declare i128 @llvm.bitreverse.i128(i128)
declare i128 @llvm.bswap.i128(i128)
declare i128 @llvm.ctlz.i128(i128, i1)
declare i128 @llvm.cttz.i128(i128, i1)
declare i128 @llvm.abs.i128(i128, i1)
declare i32 @llvm.scmp.i32.i128(i128, i128)
declare i32 @llvm.ucmp.i32.i128(i128, i128)
define internal void @pair(i128 %a, i128 %b) noinline {
  %rfshl = call i128 @llvm.fshl.i128(i128 %a, i128 %b, i128 %b)
  %zfshl = trunc i128 %rfshl to i64
  call void @p(i64 %zfshl)
  %yfshl = lshr i128 %rfshl, 64
  %xfshl = trunc i128 %yfshl to i64
  call void @p(i64 %xfshl)
  %kfshl = call i128 @llvm.fshl.i128(i128 %a, i128 %b, i128 5)
  %zkfshl = trunc i128 %kfshl to i64
  call void @p(i64 %zkfshl)
  %ykfshl = lshr i128 %kfshl, 64
  %xkfshl = trunc i128 %ykfshl to i64
  call void @p(i64 %xkfshl)
  %rfshr = call i128 @llvm.fshr.i128(i128 %a, i128 %b, i128 %b)
  %zfshr = trunc i128 %rfshr to i64
  call void @p(i64 %zfshr)
  %yfshr = lshr i128 %rfshr, 64
  %xfshr = trunc i128 %yfshr to i64
  call void @p(i64 %xfshr)
  %kfshr = call i128 @llvm.fshr.i128(i128 %a, i128 %b, i128 5)
  %zkfshr = trunc i128 %kfshr to i64
  call void @p(i64 %zkfshr)
  %ykfshr = lshr i128 %kfshr, 64
  %xkfshr = trunc i128 %ykfshr to i64
  call void @p(i64 %xkfshr)
  %rctpop = call i128 @llvm.ctpop.i128(i128 %a)
  %zctpop = trunc i128 %rctpop to i64
  call void @p(i64 %zctpop)
  %yctpop = lshr i128 %rctpop, 64
  %xctpop = trunc i128 %yctpop to i64
  call void @p(i64 %xctpop)
  %rbitreverse = call i128 @llvm.bitreverse.i128(i128 %a)
  %zbitreverse = trunc i128 %rbitreverse to i64
  call void @p(i64 %zbitreverse)
  %ybitreverse = lshr i128 %rbitreverse, 64
  %xbitreverse = trunc i128 %ybitreverse to i64
  call void @p(i64 %xbitreverse)
  %rbswap = call i128 @llvm.bswap.i128(i128 %a)
  %zbswap = trunc i128 %rbswap to i64
  call void @p(i64 %zbswap)
  %ybswap = lshr i128 %rbswap, 64
  %xbswap = trunc i128 %ybswap to i64
  call void @p(i64 %xbswap)
  %rctlz = call i128 @llvm.ctlz.i128(i128 %a, i1 false)
  %zctlz = trunc i128 %rctlz to i64
  call void @p(i64 %zctlz)
  %yctlz = lshr i128 %rctlz, 64
  %xctlz = trunc i128 %yctlz to i64
  call void @p(i64 %xctlz)
  %rcttz = call i128 @llvm.cttz.i128(i128 %a, i1 false)
  %zcttz = trunc i128 %rcttz to i64
  call void @p(i64 %zcttz)
  %ycttz = lshr i128 %rcttz, 64
  %xcttz = trunc i128 %ycttz to i64
  call void @p(i64 %xcttz)
  %rabs = call i128 @llvm.abs.i128(i128 %a, i1 false)
  %zabs = trunc i128 %rabs to i64
  call void @p(i64 %zabs)
  %yabs = lshr i128 %rabs, 64
  %xabs = trunc i128 %yabs to i64
  call void @p(i64 %xabs)
  %rscmp = call i32 @llvm.scmp.i32.i128(i128 %a, i128 %b)
  %zscmp = zext i32 %rscmp to i64
  call void @p(i64 %zscmp)
  %rucmp = call i32 @llvm.ucmp.i32.i128(i128 %a, i128 %b)
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
  %pa = getelementptr [9 x i128], ptr @v, i64 0, i64 %i
  %pb = getelementptr [9 x i128], ptr @v, i64 0, i64 %j
  %a = load volatile i128, ptr %pa
  %b = load volatile i128, ptr %pb
  call void @pair(i128 %a, i128 %b)
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
