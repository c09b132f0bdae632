; The six with.overflow intrinsics at i8.
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
declare {i8, i1} @llvm.sadd.with.overflow.i8(i8, i8)
declare {i8, i1} @llvm.uadd.with.overflow.i8(i8, i8)
declare {i8, i1} @llvm.ssub.with.overflow.i8(i8, i8)
declare {i8, i1} @llvm.usub.with.overflow.i8(i8, i8)
declare {i8, i1} @llvm.smul.with.overflow.i8(i8, i8)
declare {i8, i1} @llvm.umul.with.overflow.i8(i8, i8)
define internal void @pair(i8 %a, i8 %b) noinline {
  %rsadd = call {i8, i1} @llvm.sadd.with.overflow.i8(i8 %a, i8 %b)
  %vsadd = extractvalue {i8, i1} %rsadd, 0
  %osadd = extractvalue {i8, i1} %rsadd, 1
  %qsadd = zext i1 %osadd to i64
  call void @p(i64 %qsadd)
  %zsadd = zext i8 %vsadd to i64
  call void @p(i64 %zsadd)
  %ruadd = call {i8, i1} @llvm.uadd.with.overflow.i8(i8 %a, i8 %b)
  %vuadd = extractvalue {i8, i1} %ruadd, 0
  %ouadd = extractvalue {i8, i1} %ruadd, 1
  %quadd = zext i1 %ouadd to i64
  call void @p(i64 %quadd)
  %zuadd = zext i8 %vuadd to i64
  call void @p(i64 %zuadd)
  %rssub = call {i8, i1} @llvm.ssub.with.overflow.i8(i8 %a, i8 %b)
  %vssub = extractvalue {i8, i1} %rssub, 0
  %ossub = extractvalue {i8, i1} %rssub, 1
  %qssub = zext i1 %ossub to i64
  call void @p(i64 %qssub)
  %zssub = zext i8 %vssub to i64
  call void @p(i64 %zssub)
  %rusub = call {i8, i1} @llvm.usub.with.overflow.i8(i8 %a, i8 %b)
  %vusub = extractvalue {i8, i1} %rusub, 0
  %ousub = extractvalue {i8, i1} %rusub, 1
  %qusub = zext i1 %ousub to i64
  call void @p(i64 %qusub)
  %zusub = zext i8 %vusub to i64
  call void @p(i64 %zusub)
  %rsmul = call {i8, i1} @llvm.smul.with.overflow.i8(i8 %a, i8 %b)
  %vsmul = extractvalue {i8, i1} %rsmul, 0
  %osmul = extractvalue {i8, i1} %rsmul, 1
  %qsmul = zext i1 %osmul to i64
  call void @p(i64 %qsmul)
  %zsmul = zext i8 %vsmul to i64
  call void @p(i64 %zsmul)
  %rumul = call {i8, i1} @llvm.umul.with.overflow.i8(i8 %a, i8 %b)
  %vumul = extractvalue {i8, i1} %rumul, 0
  %oumul = extractvalue {i8, i1} %rumul, 1
  %qumul = zext i1 %oumul to i64
  call void @p(i64 %qumul)
  %zumul = zext i8 %vumul to i64
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
