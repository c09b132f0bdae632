; atomicrmw at i16 with every operation and several orderings.
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
@m = internal global i16 0, align 8
define internal void @pair(i16 %a, i16 %b) noinline {
  store i16 %a, ptr @m
  %rxchg = atomicrmw xchg ptr @m, i16 %b monotonic
  %nxchg = load i16, ptr @m
  %zrxchg = zext i16 %rxchg to i64
  call void @p(i64 %zrxchg)
  %znxchg = zext i16 %nxchg to i64
  call void @p(i64 %znxchg)
  store i16 %a, ptr @m
  %radd = atomicrmw add ptr @m, i16 %b acquire
  %nadd = load i16, ptr @m
  %zradd = zext i16 %radd to i64
  call void @p(i64 %zradd)
  %znadd = zext i16 %nadd to i64
  call void @p(i64 %znadd)
  store i16 %a, ptr @m
  %rsub = atomicrmw sub ptr @m, i16 %b release
  %nsub = load i16, ptr @m
  %zrsub = zext i16 %rsub to i64
  call void @p(i64 %zrsub)
  %znsub = zext i16 %nsub to i64
  call void @p(i64 %znsub)
  store i16 %a, ptr @m
  %rand = atomicrmw and ptr @m, i16 %b acq_rel
  %nand = load i16, ptr @m
  %zrand = zext i16 %rand to i64
  call void @p(i64 %zrand)
  %znand = zext i16 %nand to i64
  call void @p(i64 %znand)
  store i16 %a, ptr @m
  %rnand = atomicrmw nand ptr @m, i16 %b seq_cst
  %nnand = load i16, ptr @m
  %zrnand = zext i16 %rnand to i64
  call void @p(i64 %zrnand)
  %znnand = zext i16 %nnand to i64
  call void @p(i64 %znnand)
  store i16 %a, ptr @m
  %ror = atomicrmw or ptr @m, i16 %b monotonic
  %nor = load i16, ptr @m
  %zror = zext i16 %ror to i64
  call void @p(i64 %zror)
  %znor = zext i16 %nor to i64
  call void @p(i64 %znor)
  store i16 %a, ptr @m
  %rxor = atomicrmw xor ptr @m, i16 %b acquire
  %nxor = load i16, ptr @m
  %zrxor = zext i16 %rxor to i64
  call void @p(i64 %zrxor)
  %znxor = zext i16 %nxor to i64
  call void @p(i64 %znxor)
  store i16 %a, ptr @m
  %rmax = atomicrmw max ptr @m, i16 %b release
  %nmax = load i16, ptr @m
  %zrmax = zext i16 %rmax to i64
  call void @p(i64 %zrmax)
  %znmax = zext i16 %nmax to i64
  call void @p(i64 %znmax)
  store i16 %a, ptr @m
  %rmin = atomicrmw min ptr @m, i16 %b acq_rel
  %nmin = load i16, ptr @m
  %zrmin = zext i16 %rmin to i64
  call void @p(i64 %zrmin)
  %znmin = zext i16 %nmin to i64
  call void @p(i64 %znmin)
  store i16 %a, ptr @m
  %rumax = atomicrmw umax ptr @m, i16 %b seq_cst
  %numax = load i16, ptr @m
  %zrumax = zext i16 %rumax to i64
  call void @p(i64 %zrumax)
  %znumax = zext i16 %numax to i64
  call void @p(i64 %znumax)
  store i16 %a, ptr @m
  %rumin = atomicrmw umin ptr @m, i16 %b monotonic
  %numin = load i16, ptr @m
  %zrumin = zext i16 %rumin to i64
  call void @p(i64 %zrumin)
  %znumin = zext i16 %numin to i64
  call void @p(i64 %znumin)
  store i16 %a, ptr @m
  %ruinc_wrap = atomicrmw uinc_wrap ptr @m, i16 %b acquire
  %nuinc_wrap = load i16, ptr @m
  %zruinc_wrap = zext i16 %ruinc_wrap to i64
  call void @p(i64 %zruinc_wrap)
  %znuinc_wrap = zext i16 %nuinc_wrap to i64
  call void @p(i64 %znuinc_wrap)
  store i16 %a, ptr @m
  %rudec_wrap = atomicrmw udec_wrap ptr @m, i16 %b release
  %nudec_wrap = load i16, ptr @m
  %zrudec_wrap = zext i16 %rudec_wrap to i64
  call void @p(i64 %zrudec_wrap)
  %znudec_wrap = zext i16 %nudec_wrap to i64
  call void @p(i64 %znudec_wrap)
  store i16 %a, ptr @m
  %rusub_cond = atomicrmw usub_cond ptr @m, i16 %b acq_rel
  %nusub_cond = load i16, ptr @m
  %zrusub_cond = zext i16 %rusub_cond to i64
  call void @p(i64 %zrusub_cond)
  %znusub_cond = zext i16 %nusub_cond to i64
  call void @p(i64 %znusub_cond)
  store i16 %a, ptr @m
  %rusub_sat = atomicrmw usub_sat ptr @m, i16 %b seq_cst
  %nusub_sat = load i16, ptr @m
  %zrusub_sat = zext i16 %rusub_sat to i64
  call void @p(i64 %zrusub_sat)
  %znusub_sat = zext i16 %nusub_sat to i64
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
