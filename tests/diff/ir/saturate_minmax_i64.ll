; Saturating arithmetic, minimum and maximum at i64.
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
declare i64 @llvm.sadd.sat.i64(i64, i64)
declare i64 @llvm.uadd.sat.i64(i64, i64)
declare i64 @llvm.ssub.sat.i64(i64, i64)
declare i64 @llvm.usub.sat.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.sshl.sat.i64(i64, i64)
declare i64 @llvm.ushl.sat.i64(i64, i64)
define internal void @pair(i64 %a, i64 %b) noinline {
  %rsadd = call i64 @llvm.sadd.sat.i64(i64 %a, i64 %b)
  call void @p(i64 %rsadd)
  %ruadd = call i64 @llvm.uadd.sat.i64(i64 %a, i64 %b)
  call void @p(i64 %ruadd)
  %rssub = call i64 @llvm.ssub.sat.i64(i64 %a, i64 %b)
  call void @p(i64 %rssub)
  %rusub = call i64 @llvm.usub.sat.i64(i64 %a, i64 %b)
  call void @p(i64 %rusub)
  %rsmax = call i64 @llvm.smax.i64(i64 %a, i64 %b)
  call void @p(i64 %rsmax)
  %rsmin = call i64 @llvm.smin.i64(i64 %a, i64 %b)
  call void @p(i64 %rsmin)
  %rumax = call i64 @llvm.umax.i64(i64 %a, i64 %b)
  call void @p(i64 %rumax)
  %rumin = call i64 @llvm.umin.i64(i64 %a, i64 %b)
  call void @p(i64 %rumin)
  %amsshl = and i64 %b, 7
  %rsshl = call i64 @llvm.sshl.sat.i64(i64 %a, i64 %amsshl)
  call void @p(i64 %rsshl)
  %amushl = and i64 %b, 7
  %rushl = call i64 @llvm.ushl.sat.i64(i64 %a, i64 %amushl)
  call void @p(i64 %rushl)
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
