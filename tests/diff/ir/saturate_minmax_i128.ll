; Saturating arithmetic, minimum and maximum at i128.
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
declare i128 @llvm.sadd.sat.i128(i128, i128)
declare i128 @llvm.uadd.sat.i128(i128, i128)
declare i128 @llvm.ssub.sat.i128(i128, i128)
declare i128 @llvm.usub.sat.i128(i128, i128)
declare i128 @llvm.smax.i128(i128, i128)
declare i128 @llvm.smin.i128(i128, i128)
declare i128 @llvm.umax.i128(i128, i128)
declare i128 @llvm.umin.i128(i128, i128)
declare i128 @llvm.sshl.sat.i128(i128, i128)
declare i128 @llvm.ushl.sat.i128(i128, i128)
define internal void @pair(i128 %a, i128 %b) noinline {
  %rsadd = call i128 @llvm.sadd.sat.i128(i128 %a, i128 %b)
  %zsadd = trunc i128 %rsadd to i64
  call void @p(i64 %zsadd)
  %ysadd = lshr i128 %rsadd, 64
  %xsadd = trunc i128 %ysadd to i64
  call void @p(i64 %xsadd)
  %ruadd = call i128 @llvm.uadd.sat.i128(i128 %a, i128 %b)
  %zuadd = trunc i128 %ruadd to i64
  call void @p(i64 %zuadd)
  %yuadd = lshr i128 %ruadd, 64
  %xuadd = trunc i128 %yuadd to i64
  call void @p(i64 %xuadd)
  %rssub = call i128 @llvm.ssub.sat.i128(i128 %a, i128 %b)
  %zssub = trunc i128 %rssub to i64
  call void @p(i64 %zssub)
  %yssub = lshr i128 %rssub, 64
  %xssub = trunc i128 %yssub to i64
  call void @p(i64 %xssub)
  %rusub = call i128 @llvm.usub.sat.i128(i128 %a, i128 %b)
  %zusub = trunc i128 %rusub to i64
  call void @p(i64 %zusub)
  %yusub = lshr i128 %rusub, 64
  %xusub = trunc i128 %yusub to i64
  call void @p(i64 %xusub)
  %rsmax = call i128 @llvm.smax.i128(i128 %a, i128 %b)
  %zsmax = trunc i128 %rsmax to i64
  call void @p(i64 %zsmax)
  %ysmax = lshr i128 %rsmax, 64
  %xsmax = trunc i128 %ysmax to i64
  call void @p(i64 %xsmax)
  %rsmin = call i128 @llvm.smin.i128(i128 %a, i128 %b)
  %zsmin = trunc i128 %rsmin to i64
  call void @p(i64 %zsmin)
  %ysmin = lshr i128 %rsmin, 64
  %xsmin = trunc i128 %ysmin to i64
  call void @p(i64 %xsmin)
  %rumax = call i128 @llvm.umax.i128(i128 %a, i128 %b)
  %zumax = trunc i128 %rumax to i64
  call void @p(i64 %zumax)
  %yumax = lshr i128 %rumax, 64
  %xumax = trunc i128 %yumax to i64
  call void @p(i64 %xumax)
  %rumin = call i128 @llvm.umin.i128(i128 %a, i128 %b)
  %zumin = trunc i128 %rumin to i64
  call void @p(i64 %zumin)
  %yumin = lshr i128 %rumin, 64
  %xumin = trunc i128 %yumin to i64
  call void @p(i64 %xumin)
  %amsshl = and i128 %b, 7
  %rsshl = call i128 @llvm.sshl.sat.i128(i128 %a, i128 %amsshl)
  %zsshl = trunc i128 %rsshl to i64
  call void @p(i64 %zsshl)
  %ysshl = lshr i128 %rsshl, 64
  %xsshl = trunc i128 %ysshl to i64
  call void @p(i64 %xsshl)
  %amushl = and i128 %b, 7
  %rushl = call i128 @llvm.ushl.sat.i128(i128 %a, i128 %amushl)
  %zushl = trunc i128 %rushl to i64
  call void @p(i64 %zushl)
  %yushl = lshr i128 %rushl, 64
  %xushl = trunc i128 %yushl to i64
  call void @p(i64 %xushl)
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
