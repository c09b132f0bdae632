; atomicrmw at i8 with every operation and several orderings.
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
@m = internal global i8 0, align 8
define internal void @pair(i8 %a, i8 %b) noinline {
  store i8 %a, ptr @m
  %rxchg = atomicrmw xchg ptr @m, i8 %b monotonic
  %nxchg = load i8, ptr @m
  %zrxchg = zext i8 %rxchg to i64
  call void @p(i64 %zrxchg)
  %znxchg = zext i8 %nxchg to i64
  call void @p(i64 %znxchg)
  store i8 %a, ptr @m
  %radd = atomicrmw add ptr @m, i8 %b acquire
  %nadd = load i8, ptr @m
  %zradd = zext i8 %radd to i64
  call void @p(i64 %zradd)
  %znadd = zext i8 %nadd to i64
  call void @p(i64 %znadd)
  store i8 %a, ptr @m
  %rsub = atomicrmw sub ptr @m, i8 %b release
  %nsub = load i8, ptr @m
  %zrsub = zext i8 %rsub to i64
  call void @p(i64 %zrsub)
  %znsub = zext i8 %nsub to i64
  call void @p(i64 %znsub)
  store i8 %a, ptr @m
  %rand = atomicrmw and ptr @m, i8 %b acq_rel
  %nand = load i8, ptr @m
  %zrand = zext i8 %rand to i64
  call void @p(i64 %zrand)
  %znand = zext i8 %nand to i64
  call void @p(i64 %znand)
  store i8 %a, ptr @m
  %rnand = atomicrmw nand ptr @m, i8 %b seq_cst
  %nnand = load i8, ptr @m
  %zrnand = zext i8 %rnand to i64
  call void @p(i64 %zrnand)
  %znnand = zext i8 %nnand to i64
  call void @p(i64 %znnand)
  store i8 %a, ptr @m
  %ror = atomicrmw or ptr @m, i8 %b monotonic
  %nor = load i8, ptr @m
  %zror = zext i8 %ror to i64
  call void @p(i64 %zror)
  %znor = zext i8 %nor to i64
  call void @p(i64 %znor)
  store i8 %a, ptr @m
  %rxor = atomicrmw xor ptr @m, i8 %b acquire
  %nxor = load i8, ptr @m
  %zrxor = zext i8 %rxor to i64
  call void @p(i64 %zrxor)
  %znxor = zext i8 %nxor to i64
  call void @p(i64 %znxor)
  store i8 %a, ptr @m
  %rmax = atomicrmw max ptr @m, i8 %b release
  %nmax = load i8, ptr @m
  %zrmax = zext i8 %rmax to i64
  call void @p(i64 %zrmax)
  %znmax = zext i8 %nmax to i64
  call void @p(i64 %znmax)
  store i8 %a, ptr @m
  %rmin = atomicrmw min ptr @m, i8 %b acq_rel
  %nmin = load i8, ptr @m
  %zrmin = zext i8 %rmin to i64
  call void @p(i64 %zrmin)
  %znmin = zext i8 %nmin to i64
  call void @p(i64 %znmin)
  store i8 %a, ptr @m
  %rumax = atomicrmw umax ptr @m, i8 %b seq_cst
  %numax = load i8, ptr @m
  %zrumax = zext i8 %rumax to i64
  call void @p(i64 %zrumax)
  %znumax = zext i8 %numax to i64
  call void @p(i64 %znumax)
  store i8 %a, ptr @m
  %rumin = atomicrmw umin ptr @m, i8 %b monotonic
  %numin = load i8, ptr @m
  %zrumin = zext i8 %rumin to i64
  call void @p(i64 %zrumin)
  %znumin = zext i8 %numin to i64
  call void @p(i64 %znumin)
  store i8 %a, ptr @m
  %ruinc_wrap = atomicrmw uinc_wrap ptr @m, i8 %b acquire
  %nuinc_wrap = load i8, ptr @m
  %zruinc_wrap = zext i8 %ruinc_wrap to i64
  call void @p(i64 %zruinc_wrap)
  %znuinc_wrap = zext i8 %nuinc_wrap to i64
  call void @p(i64 %znuinc_wrap)
  store i8 %a, ptr @m
  %rudec_wrap = atomicrmw udec_wrap ptr @m, i8 %b release
  %nudec_wrap = load i8, ptr @m
  %zrudec_wrap = zext i8 %rudec_wrap to i64
  call void @p(i64 %zrudec_wrap)
  %znudec_wrap = zext i8 %nudec_wrap to i64
  call void @p(i64 %znudec_wrap)
  store i8 %a, ptr @m
  %rusub_cond = atomicrmw usub_cond ptr @m, i8 %b acq_rel
  %nusub_cond = load i8, ptr @m
  %zrusub_cond = zext i8 %rusub_cond to i64
  call void @p(i64 %zrusub_cond)
  %znusub_cond = zext i8 %nusub_cond to i64
  call void @p(i64 %znusub_cond)
  store i8 %a, ptr @m
  %rusub_sat = atomicrmw usub_sat ptr @m, i8 %b seq_cst
  %nusub_sat = load i8, ptr @m
  %zrusub_sat = zext i8 %rusub_sat to i64
  call void @p(i64 %zrusub_sat)
  %znusub_sat = zext i8 %nusub_sat to i64
  call void @p(i64 %znusub_sat)
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
