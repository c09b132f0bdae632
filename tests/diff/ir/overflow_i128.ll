; The six with.overflow intrinsics at i128.
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
declare {i128, i1} @llvm.sadd.with.overflow.i128(i128, i128)
declare {i128, i1} @llvm.uadd.with.overflow.i128(i128, i128)
declare {i128, i1} @llvm.ssub.with.overflow.i128(i128, i128)
declare {i128, i1} @llvm.usub.with.overflow.i128(i128, i128)
declare {i128, i1} @llvm.umul.with.overflow.i128(i128, i128)
define internal void @pair(i128 %a, i128 %b) noinline {
  %rsadd = call {i128, i1} @llvm.sadd.with.overflow.i128(i128 %a, i128 %b)
  %vsadd = extractvalue {i128, i1} %rsadd, 0
  %osadd = extractvalue {i128, i1} %rsadd, 1
  %qsadd = zext i1 %osadd to i64
  call void @p(i64 %qsadd)
  %zsadd = trunc i128 %vsadd to i64
  call void @p(i64 %zsadd)
  %ysadd = lshr i128 %vsadd, 64
  %xsadd = trunc i128 %ysadd to i64
  call void @p(i64 %xsadd)
  %ruadd = call {i128, i1} @llvm.uadd.with.overflow.i128(i128 %a, i128 %b)
  %vuadd = extractvalue {i128, i1} %ruadd, 0
  %ouadd = extractvalue {i128, i1} %ruadd, 1
  %quadd = zext i1 %ouadd to i64
  call void @p(i64 %quadd)
  %zuadd = trunc i128 %vuadd to i64
  call void @p(i64 %zuadd)
  %yuadd = lshr i128 %vuadd, 64
  %xuadd = trunc i128 %yuadd to i64
  call void @p(i64 %xuadd)
  %rssub = call {i128, i1} @llvm.ssub.with.overflow.i128(i128 %a, i128 %b)
  %vssub = extractvalue {i128, i1} %rssub, 0
  %ossub = extractvalue {i128, i1} %rssub, 1
  %qssub = zext i1 %ossub to i64
  call void @p(i64 %qssub)
  %zssub = trunc i128 %vssub to i64
  call void @p(i64 %zssub)
  %yssub = lshr i128 %vssub, 64
  %xssub = trunc i128 %yssub to i64
  call void @p(i64 %xssub)
  %rusub = call {i128, i1} @llvm.usub.with.overflow.i128(i128 %a, i128 %b)
  %vusub = extractvalue {i128, i1} %rusub, 0
  %ousub = extractvalue {i128, i1} %rusub, 1
  %qusub = zext i1 %ousub to i64
  call void @p(i64 %qusub)
  %zusub = trunc i128 %vusub to i64
  call void @p(i64 %zusub)
  %yusub = lshr i128 %vusub, 64
  %xusub = trunc i128 %yusub to i64
  call void @p(i64 %xusub)
  %rumul = call {i128, i1} @llvm.umul.with.overflow.i128(i128 %a, i128 %b)
  %vumul = extractvalue {i128, i1} %rumul, 0
  %oumul = extractvalue {i128, i1} %rumul, 1
  %qumul = zext i1 %oumul to i64
  call void @p(i64 %qumul)
  %zumul = trunc i128 %vumul to i64
  call void @p(i64 %zumul)
  %yumul = lshr i128 %vumul, 64
  %xumul = trunc i128 %yumul to i64
  call void @p(i64 %xumul)
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
