; The six with.overflow intrinsics at i33.
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
@v = internal global [9 x i33] [i33 0, i33 1, i33 2, i33 7, i33 8589934591, i33 8589934590, i33 4294967296, i33 4294967295, i33 1515870810]
declare {i33, i1} @llvm.sadd.with.overflow.i33(i33, i33)
declare {i33, i1} @llvm.uadd.with.overflow.i33(i33, i33)
declare {i33, i1} @llvm.ssub.with.overflow.i33(i33, i33)
declare {i33, i1} @llvm.usub.with.overflow.i33(i33, i33)
declare {i33, i1} @llvm.smul.with.overflow.i33(i33, i33)
declare {i33, i1} @llvm.umul.with.overflow.i33(i33, i33)
define internal void @pair(i33 %a, i33 %b) noinline {
  %rsadd = call {i33, i1} @llvm.sadd.with.overflow.i33(i33 %a, i33 %b)
  %vsadd = extractvalue {i33, i1} %rsadd, 0
  %osadd = extractvalue {i33, i1} %rsadd, 1
  %qsadd = zext i1 %osadd to i64
  call void @p(i64 %qsadd)
  %zsadd = zext i33 %vsadd to i64
  call void @p(i64 %zsadd)
  %ruadd = call {i33, i1} @llvm.uadd.with.overflow.i33(i33 %a, i33 %b)
  %vuadd = extractvalue {i33, i1} %ruadd, 0
  %ouadd = extractvalue {i33, i1} %ruadd, 1
  %quadd = zext i1 %ouadd to i64
  call void @p(i64 %quadd)
  %zuadd = zext i33 %vuadd to i64
  call void @p(i64 %zuadd)
  %rssub = call {i33, i1} @llvm.ssub.with.overflow.i33(i33 %a, i33 %b)
  %vssub = extractvalue {i33, i1} %rssub, 0
  %ossub = extractvalue {i33, i1} %rssub, 1
  %qssub = zext i1 %ossub to i64
  call void @p(i64 %qssub)
  %zssub = zext i33 %vssub to i64
  call void @p(i64 %zssub)
  %rusub = call {i33, i1} @llvm.usub.with.overflow.i33(i33 %a, i33 %b)
  %vusub = extractvalue {i33, i1} %rusub, 0
  %ousub = extractvalue {i33, i1} %rusub, 1
  %qusub = zext i1 %ousub to i64
  call void @p(i64 %qusub)
  %zusub = zext i33 %vusub to i64
  call void @p(i64 %zusub)
  %rsmul = call {i33, i1} @llvm.smul.with.overflow.i33(i33 %a, i33 %b)
  %vsmul = extractvalue {i33, i1} %rsmul, 0
  %osmul = extractvalue {i33, i1} %rsmul, 1
  %qsmul = zext i1 %osmul to i64
  call void @p(i64 %qsmul)
  %zsmul = zext i33 %vsmul to i64
  call void @p(i64 %zsmul)
  %rumul = call {i33, i1} @llvm.umul.with.overflow.i33(i33 %a, i33 %b)
  %vumul = extractvalue {i33, i1} %rumul, 0
  %oumul = extractvalue {i33, i1} %rumul, 1
  %qumul = zext i1 %oumul to i64
  call void @p(i64 %qumul)
  %zumul = zext i33 %vumul to i64
  call void @p(i64 %zumul)
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
  %pa = getelementptr [9 x i33], ptr @v, i64 0, i64 %i
  %pb = getelementptr [9 x i33], ptr @v, i64 0, i64 %j
  %a = load volatile i33, ptr %pa
  %b = load volatile i33, ptr %pb
  call void @pair(i33 %a, i33 %b)
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
