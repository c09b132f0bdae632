; The six with.overflow intrinsics at i64.
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
declare {i64, i1} @llvm.sadd.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.uadd.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.ssub.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.usub.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.umul.with.overflow.i64(i64, i64)
define internal void @pair(i64 %a, i64 %b) noinline {
  %rsadd = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %a, i64 %b)
  %vsadd = extractvalue {i64, i1} %rsadd, 0
  %osadd = extractvalue {i64, i1} %rsadd, 1
  %qsadd = zext i1 %osadd to i64
  call void @p(i64 %qsadd)
  call void @p(i64 %vsadd)
  %ruadd = call {i64, i1} @llvm.uadd.with.overflow.i64(i64 %a, i64 %b)
  %vuadd = extractvalue {i64, i1} %ruadd, 0
  %ouadd = extractvalue {i64, i1} %ruadd, 1
  %quadd = zext i1 %ouadd to i64
  call void @p(i64 %quadd)
  call void @p(i64 %vuadd)
  %rssub = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %a, i64 %b)
  %vssub = extractvalue {i64, i1} %rssub, 0
  %ossub = extractvalue {i64, i1} %rssub, 1
  %qssub = zext i1 %ossub to i64
  call void @p(i64 %qssub)
  call void @p(i64 %vssub)
  %rusub = call {i64, i1} @llvm.usub.with.overflow.i64(i64 %a, i64 %b)
  %vusub = extractvalue {i64, i1} %rusub, 0
  %ousub = extractvalue {i64, i1} %rusub, 1
  %qusub = zext i1 %ousub to i64
  call void @p(i64 %qusub)
  call void @p(i64 %vusub)
  %rsmul = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %a, i64 %b)
  %vsmul = extractvalue {i64, i1} %rsmul, 0
  %osmul = extractvalue {i64, i1} %rsmul, 1
  %qsmul = zext i1 %osmul to i64
  call void @p(i64 %qsmul)
  call void @p(i64 %vsmul)
  %rumul = call {i64, i1} @llvm.umul.with.overflow.i64(i64 %a, i64 %b)
  %vumul = extractvalue {i64, i1} %rumul, 0
  %oumul = extractvalue {i64, i1} %rumul, 1
  %qumul = zext i1 %oumul to i64
  call void @p(i64 %qumul)
  call void @p(i64 %vumul)
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
