; atomicrmw at i32 with every operation and several orderings.
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
@m = internal global i32 0, align 8
define internal void @pair(i32 %a, i32 %b) noinline {
  store i32 %a, ptr @m
  %rxchg = atomicrmw xchg ptr @m, i32 %b monotonic
  %nxchg = load i32, ptr @m
  %zrxchg = zext i32 %rxchg to i64
  call void @p(i64 %zrxchg)
  %znxchg = zext i32 %nxchg to i64
  call void @p(i64 %znxchg)
  store i32 %a, ptr @m
  %radd = atomicrmw add ptr @m, i32 %b acquire
  %nadd = load i32, ptr @m
  %zradd = zext i32 %radd to i64
  call void @p(i64 %zradd)
  %znadd = zext i32 %nadd to i64
  call void @p(i64 %znadd)
  store i32 %a, ptr @m
  %rsub = atomicrmw sub ptr @m, i32 %b release
  %nsub = load i32, ptr @m
  %zrsub = zext i32 %rsub to i64
  call void @p(i64 %zrsub)
  %znsub = zext i32 %nsub to i64
  call void @p(i64 %znsub)
  store i32 %a, ptr @m
  %rand = atomicrmw and ptr @m, i32 %b acq_rel
  %nand = load i32, ptr @m
  %zrand = zext i32 %rand to i64
  call void @p(i64 %zrand)
  %znand = zext i32 %nand to i64
  call void @p(i64 %znand)
  store i32 %a, ptr @m
  %rnand = atomicrmw nand ptr @m, i32 %b seq_cst
  %nnand = load i32, ptr @m
  %zrnand = zext i32 %rnand to i64
  call void @p(i64 %zrnand)
  %znnand = zext i32 %nnand to i64
  call void @p(i64 %znnand)
  store i32 %a, ptr @m
  %ror = atomicrmw or ptr @m, i32 %b monotonic
  %nor = load i32, ptr @m
  %zror = zext i32 %ror to i64
  call void @p(i64 %zror)
  %znor = zext i32 %nor to i64
  call void @p(i64 %znor)
  store i32 %a, ptr @m
  %rxor = atomicrmw xor ptr @m, i32 %b acquire
  %nxor = load i32, ptr @m
  %zrxor = zext i32 %rxor to i64
  call void @p(i64 %zrxor)
  %znxor = zext i32 %nxor to i64
  call void @p(i64 %znxor)
  store i32 %a, ptr @m
  %rmax = atomicrmw max ptr @m, i32 %b release
  %nmax = load i32, ptr @m
  %zrmax = zext i32 %rmax to i64
  call void @p(i64 %zrmax)
  %znmax = zext i32 %nmax to i64
  call void @p(i64 %znmax)
  store i32 %a, ptr @m
  %rmin = atomicrmw min ptr @m, i32 %b acq_rel
  %nmin = load i32, ptr @m
  %zrmin = zext i32 %rmin to i64
  call void @p(i64 %zrmin)
  %znmin = zext i32 %nmin to i64
  call void @p(i64 %znmin)
  store i32 %a, ptr @m
  %rumax = atomicrmw umax ptr @m, i32 %b seq_cst
  %numax = load i32, ptr @m
  %zrumax = zext i32 %rumax to i64
  call void @p(i64 %zrumax)
  %znumax = zext i32 %numax to i64
  call void @p(i64 %znumax)
  store i32 %a, ptr @m
  %rumin = atomicrmw umin ptr @m, i32 %b monotonic
  %numin = load i32, ptr @m
  %zrumin = zext i32 %rumin to i64
  call void @p(i64 %zrumin)
  %znumin = zext i32 %numin to i64
  call void @p(i64 %znumin)
  store i32 %a, ptr @m
  %ruinc_wrap = atomicrmw uinc_wrap ptr @m, i32 %b acquire
  %nuinc_wrap = load i32, ptr @m
  %zruinc_wrap = zext i32 %ruinc_wrap to i64
  call void @p(i64 %zruinc_wrap)
  %znuinc_wrap = zext i32 %nuinc_wrap to i64
  call void @p(i64 %znuinc_wrap)
  store i32 %a, ptr @m
  %rudec_wrap = atomicrmw udec_wrap ptr @m, i32 %b release
  %nudec_wrap = load i32, ptr @m
  %zrudec_wrap = zext i32 %rudec_wrap to i64
  call void @p(i64 %zrudec_wrap)
  %znudec_wrap = zext i32 %nudec_wrap to i64
  call void @p(i64 %znudec_wrap)
  store i32 %a, ptr @m
  %rusub_cond = atomicrmw usub_cond ptr @m, i32 %b acq_rel
  %nusub_cond = load i32, ptr @m
  %zrusub_cond = zext i32 %rusub_cond to i64
  call void @p(i64 %zrusub_cond)
  %znusub_cond = zext i32 %nusub_cond to i64
  call void @p(i64 %znusub_cond)
  store i32 %a, ptr @m
  %rusub_sat = atomicrmw usub_sat ptr @m, i32 %b seq_cst
  %nusub_sat = load i32, ptr @m
  %zrusub_sat = zext i32 %rusub_sat to i64
  call void @p(i64 %zrusub_sat)
  %znusub_sat = zext i32 %nusub_sat to i64
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
