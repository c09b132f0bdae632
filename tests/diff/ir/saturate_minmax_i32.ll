; Saturating arithmetic, minimum and maximum at i32.
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
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare i32 @llvm.uadd.sat.i32(i32, i32)
declare i32 @llvm.ssub.sat.i32(i32, i32)
declare i32 @llvm.usub.sat.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.sshl.sat.i32(i32, i32)
declare i32 @llvm.ushl.sat.i32(i32, i32)
define internal void @pair(i32 %a, i32 %b) noinline {
  %rsadd = call i32 @llvm.sadd.sat.i32(i32 %a, i32 %b)
  %zsadd = zext i32 %rsadd to i64
  call void @p(i64 %zsadd)
  %ruadd = call i32 @llvm.uadd.sat.i32(i32 %a, i32 %b)
  %zuadd = zext i32 %ruadd to i64
  call void @p(i64 %zuadd)
  %rssub = call i32 @llvm.ssub.sat.i32(i32 %a, i32 %b)
  %zssub = zext i32 %rssub to i64
  call void @p(i64 %zssub)
  %rusub = call i32 @llvm.usub.sat.i32(i32 %a, i32 %b)
  %zusub = zext i32 %rusub to i64
  call void @p(i64 %zusub)
  %rsmax = call i32 @llvm.smax.i32(i32 %a, i32 %b)
  %zsmax = zext i32 %rsmax to i64
  call void @p(i64 %zsmax)
  %rsmin = call i32 @llvm.smin.i32(i32 %a, i32 %b)
  %zsmin = zext i32 %rsmin to i64
  call void @p(i64 %zsmin)
  %rumax = call i32 @llvm.umax.i32(i32 %a, i32 %b)
  %zumax = zext i32 %rumax to i64
  call void @p(i64 %zumax)
  %rumin = call i32 @llvm.umin.i32(i32 %a, i32 %b)
  %zumin = zext i32 %rumin to i64
  call void @p(i64 %zumin)
  %amsshl = and i32 %b, 7
  %rsshl = call i32 @llvm.sshl.sat.i32(i32 %a, i32 %amsshl)
  %zsshl = zext i32 %rsshl to i64
  call void @p(i64 %zsshl)
  %amushl = and i32 %b, 7
  %rushl = call i32 @llvm.ushl.sat.i32(i32 %a, i32 %amushl)
  %zushl = zext i32 %rushl to i64
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
