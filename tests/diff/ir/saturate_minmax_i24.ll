; Saturating arithmetic, minimum and maximum at i24.
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
@v = internal global [9 x i24] [i24 0, i24 1, i24 2, i24 7, i24 16777215, i24 16777214, i24 8388608, i24 8388607, i24 5921370]
declare i24 @llvm.sadd.sat.i24(i24, i24)
declare i24 @llvm.uadd.sat.i24(i24, i24)
declare i24 @llvm.ssub.sat.i24(i24, i24)
declare i24 @llvm.usub.sat.i24(i24, i24)
declare i24 @llvm.smax.i24(i24, i24)
declare i24 @llvm.smin.i24(i24, i24)
declare i24 @llvm.umax.i24(i24, i24)
declare i24 @llvm.umin.i24(i24, i24)
declare i24 @llvm.sshl.sat.i24(i24, i24)
declare i24 @llvm.ushl.sat.i24(i24, i24)
define internal void @pair(i24 %a, i24 %b) noinline {
  %rsadd = call i24 @llvm.sadd.sat.i24(i24 %a, i24 %b)
  %zsadd = zext i24 %rsadd to i64
  call void @p(i64 %zsadd)
  %ruadd = call i24 @llvm.uadd.sat.i24(i24 %a, i24 %b)
  %zuadd = zext i24 %ruadd to i64
  call void @p(i64 %zuadd)
  %rssub = call i24 @llvm.ssub.sat.i24(i24 %a, i24 %b)
  %zssub = zext i24 %rssub to i64
  call void @p(i64 %zssub)
  %rusub = call i24 @llvm.usub.sat.i24(i24 %a, i24 %b)
  %zusub = zext i24 %rusub to i64
  call void @p(i64 %zusub)
  %rsmax = call i24 @llvm.smax.i24(i24 %a, i24 %b)
  %zsmax = zext i24 %rsmax to i64
  call void @p(i64 %zsmax)
  %rsmin = call i24 @llvm.smin.i24(i24 %a, i24 %b)
  %zsmin = zext i24 %rsmin to i64
  call void @p(i64 %zsmin)
  %rumax = call i24 @llvm.umax.i24(i24 %a, i24 %b)
  %zumax = zext i24 %rumax to i64
  call void @p(i64 %zumax)
  %rumin = call i24 @llvm.umin.i24(i24 %a, i24 %b)
  %zumin = zext i24 %rumin to i64
  call void @p(i64 %zumin)
  %amsshl = and i24 %b, 7
  %rsshl = call i24 @llvm.sshl.sat.i24(i24 %a, i24 %amsshl)
  %zsshl = zext i24 %rsshl to i64
  call void @p(i64 %zsshl)
  %amushl = and i24 %b, 7
  %rushl = call i24 @llvm.ushl.sat.i24(i24 %a, i24 %amushl)
  %zushl = zext i24 %rushl to i64
  call void @p(i64 %zushl)
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
  %pa = getelementptr [9 x i24], ptr @v, i64 0, i64 %i
  %pb = getelementptr [9 x i24], ptr @v, i64 0, i64 %j
  %a = load volatile i24, ptr %pa
  %b = load volatile i24, ptr %pb
  call void @pair(i24 %a, i24 %b)
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
