; The six with.overflow intrinsics at i16.
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
@v = internal global [9 x i16] [i16 0, i16 1, i16 2, i16 7, i16 65535, i16 65534, i16 32768, i16 32767, i16 23130]
declare {i16, i1} @llvm.sadd.with.overflow.i16(i16, i16)
declare {i16, i1} @llvm.uadd.with.overflow.i16(i16, i16)
declare {i16, i1} @llvm.ssub.with.overflow.i16(i16, i16)
declare {i16, i1} @llvm.usub.with.overflow.i16(i16, i16)
declare {i16, i1} @llvm.smul.with.overflow.i16(i16, i16)
declare {i16, i1} @llvm.umul.with.overflow.i16(i16, i16)
define internal void @pair(i16 %a, i16 %b) noinline {
  %rsadd = call {i16, i1} @llvm.sadd.with.overflow.i16(i16 %a, i16 %b)
  %vsadd = extractvalue {i16, i1} %rsadd, 0
  %osadd = extractvalue {i16, i1} %rsadd, 1
  %qsadd = zext i1 %osadd to i64
  call void @p(i64 %qsadd)
  %zsadd = zext i16 %vsadd to i64
  call void @p(i64 %zsadd)
  %ruadd = call {i16, i1} @llvm.uadd.with.overflow.i16(i16 %a, i16 %b)
  %vuadd = extractvalue {i16, i1} %ruadd, 0
  %ouadd = extractvalue {i16, i1} %ruadd, 1
  %quadd = zext i1 %ouadd to i64
  call void @p(i64 %quadd)
  %zuadd = zext i16 %vuadd to i64
  call void @p(i64 %zuadd)
  %rssub = call {i16, i1} @llvm.ssub.with.overflow.i16(i16 %a, i16 %b)
  %vssub = extractvalue {i16, i1} %rssub, 0
  %ossub = extractvalue {i16, i1} %rssub, 1
  %qssub = zext i1 %ossub to i64
  call void @p(i64 %qssub)
  %zssub = zext i16 %vssub to i64
  call void @p(i64 %zssub)
  %rusub = call {i16, i1} @llvm.usub.with.overflow.i16(i16 %a, i16 %b)
  %vusub = extractvalue {i16, i1} %rusub, 0
  %ousub = extractvalue {i16, i1} %rusub, 1
  %qusub = zext i1 %ousub to i64
  call void @p(i64 %qusub)
  %zusub = zext i16 %vusub to i64
  call void @p(i64 %zusub)
  %rsmul = call {i16, i1} @llvm.smul.with.overflow.i16(i16 %a, i16 %b)
  %vsmul = extractvalue {i16, i1} %rsmul, 0
  %osmul = extractvalue {i16, i1} %rsmul, 1
  %qsmul = zext i1 %osmul to i64
  call void @p(i64 %qsmul)
  %zsmul = zext i16 %vsmul to i64
  call void @p(i64 %zsmul)
  %rumul = call {i16, i1} @llvm.umul.with.overflow.i16(i16 %a, i16 %b)
  %vumul = extractvalue {i16, i1} %rumul, 0
  %oumul = extractvalue {i16, i1} %rumul, 1
  %qumul = zext i1 %oumul to i64
  call void @p(i64 %qumul)
  %zumul = zext i16 %vumul to i64
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
  %pa = getelementptr [9 x i16], ptr @v, i64 0, i64 %i
  %pb = getelementptr [9 x i16], ptr @v, i64 0, i64 %j
  %a = load volatile i16, ptr %pa
  %b = load volatile i16, ptr %pb
  call void @pair(i16 %a, i16 %b)
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
