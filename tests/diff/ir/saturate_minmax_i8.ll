; Saturating arithmetic, minimum and maximum at i8.
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
declare i8 @llvm.sadd.sat.i8(i8, i8)
declare i8 @llvm.uadd.sat.i8(i8, i8)
declare i8 @llvm.ssub.sat.i8(i8, i8)
declare i8 @llvm.usub.sat.i8(i8, i8)
declare i8 @llvm.smax.i8(i8, i8)
declare i8 @llvm.smin.i8(i8, i8)
declare i8 @llvm.umax.i8(i8, i8)
declare i8 @llvm.umin.i8(i8, i8)
declare i8 @llvm.sshl.sat.i8(i8, i8)
declare i8 @llvm.ushl.sat.i8(i8, i8)
define internal void @pair(i8 %a, i8 %b) noinline {
  %rsadd = call i8 @llvm.sadd.sat.i8(i8 %a, i8 %b)
  %zsadd = zext i8 %rsadd to i64
  call void @p(i64 %zsadd)
  %ruadd = call i8 @llvm.uadd.sat.i8(i8 %a, i8 %b)
  %zuadd = zext i8 %ruadd to i64
  call void @p(i64 %zuadd)
  %rssub = call i8 @llvm.ssub.sat.i8(i8 %a, i8 %b)
  %zssub = zext i8 %rssub to i64
  call void @p(i64 %zssub)
  %rusub = call i8 @llvm.usub.sat.i8(i8 %a, i8 %b)
  %zusub = zext i8 %rusub to i64
  call void @p(i64 %zusub)
  %rsmax = call i8 @llvm.smax.i8(i8 %a, i8 %b)
  %zsmax = zext i8 %rsmax to i64
  call void @p(i64 %zsmax)
  %rsmin = call i8 @llvm.smin.i8(i8 %a, i8 %b)
  %zsmin = zext i8 %rsmin to i64
  call void @p(i64 %zsmin)
  %rumax = call i8 @llvm.umax.i8(i8 %a, i8 %b)
  %zumax = zext i8 %rumax to i64
  call void @p(i64 %zumax)
  %rumin = call i8 @llvm.umin.i8(i8 %a, i8 %b)
  %zumin = zext i8 %rumin to i64
  call void @p(i64 %zumin)
  %amsshl = and i8 %b, 7
  %rsshl = call i8 @llvm.sshl.sat.i8(i8 %a, i8 %amsshl)
  %zsshl = zext i8 %rsshl to i64
  call void @p(i64 %zsshl)
  %amushl = and i8 %b, 7
  %rushl = call i8 @llvm.ushl.sat.i8(i8 %a, i8 %amushl)
  %zushl = zext i8 %rushl to i64
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
