; Funnel shifts, counts, reversal, abs and three-way comparison at i64.
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
@v = internal global [9 x i64] [i64 0, i64 1, i64 2, i64 7, i64 18446744073709551615, i64 18446744073709551614, i64 9223372036854775808, i64 9223372036854775807, i64 6510615555426900570]
declare i64 @llvm.fshl.i64(i64, i64, i64)
declare i64 @llvm.fshr.i64(i64, i64, i64)
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.bitreverse.i64(i64)
declare i64 @llvm.bswap.i64(i64)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.abs.i64(i64, i1)
declare i32 @llvm.scmp.i32.i64(i64, i64)
declare i32 @llvm.ucmp.i32.i64(i64, i64)
define internal void @pair(i64 %a, i64 %b) noinline {
  %rfshl = call i64 @llvm.fshl.i64(i64 %a, i64 %b, i64 %b)
  call void @p(i64 %rfshl)
  %kfshl = call i64 @llvm.fshl.i64(i64 %a, i64 %b, i64 5)
  call void @p(i64 %kfshl)
  %rfshr = call i64 @llvm.fshr.i64(i64 %a, i64 %b, i64 %b)
  call void @p(i64 %rfshr)
  %kfshr = call i64 @llvm.fshr.i64(i64 %a, i64 %b, i64 5)
  call void @p(i64 %kfshr)
  %rctpop = call i64 @llvm.ctpop.i64(i64 %a)
  call void @p(i64 %rctpop)
  %rbitreverse = call i64 @llvm.bitreverse.i64(i64 %a)
  call void @p(i64 %rbitreverse)
  %rbswap = call i64 @llvm.bswap.i64(i64 %a)
  call void @p(i64 %rbswap)
  %rctlz = call i64 @llvm.ctlz.i64(i64 %a, i1 false)
  call void @p(i64 %rctlz)
  %rcttz = call i64 @llvm.cttz.i64(i64 %a, i1 false)
  call void @p(i64 %rcttz)
  %rabs = call i64 @llvm.abs.i64(i64 %a, i1 false)
  call void @p(i64 %rabs)
  %rscmp = call i32 @llvm.scmp.i32.i64(i64 %a, i64 %b)
  %zscmp = zext i32 %rscmp to i64
  call void @p(i64 %zscmp)
  %rucmp = call i32 @llvm.ucmp.i32.i64(i64 %a, i64 %b)
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
  %pa = getelementptr [9 x i64], ptr @v, i64 0, i64 %i
  %pb = getelementptr [9 x i64], ptr @v, i64 0, i64 %j
  %a = load volatile i64, ptr %pa
  %b = load volatile i64, ptr %pb
  call void @pair(i64 %a, i64 %b)
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
