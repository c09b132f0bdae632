; atomicrmw at i64 with every operation and several orderings.
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
@m = internal global i64 0, align 8
define internal void @pair(i64 %a, i64 %b) noinline {
  store i64 %a, ptr @m
  %rxchg = atomicrmw xchg ptr @m, i64 %b monotonic
  %nxchg = load i64, ptr @m
  call void @p(i64 %rxchg)
  call void @p(i64 %nxchg)
  store i64 %a, ptr @m
  %radd = atomicrmw add ptr @m, i64 %b acquire
  %nadd = load i64, ptr @m
  call void @p(i64 %radd)
  call void @p(i64 %nadd)
  store i64 %a, ptr @m
  %rsub = atomicrmw sub ptr @m, i64 %b release
  %nsub = load i64, ptr @m
  call void @p(i64 %rsub)
  call void @p(i64 %nsub)
  store i64 %a, ptr @m
  %rand = atomicrmw and ptr @m, i64 %b acq_rel
  %nand = load i64, ptr @m
  call void @p(i64 %rand)
  call void @p(i64 %nand)
  store i64 %a, ptr @m
  %rnand = atomicrmw nand ptr @m, i64 %b seq_cst
  %nnand = load i64, ptr @m
  call void @p(i64 %rnand)
  call void @p(i64 %nnand)
  store i64 %a, ptr @m
  %ror = atomicrmw or ptr @m, i64 %b monotonic
  %nor = load i64, ptr @m
  call void @p(i64 %ror)
  call void @p(i64 %nor)
  store i64 %a, ptr @m
  %rxor = atomicrmw xor ptr @m, i64 %b acquire
  %nxor = load i64, ptr @m
  call void @p(i64 %rxor)
  call void @p(i64 %nxor)
  store i64 %a, ptr @m
  %rmax = atomicrmw max ptr @m, i64 %b release
  %nmax = load i64, ptr @m
  call void @p(i64 %rmax)
  call void @p(i64 %nmax)
  store i64 %a, ptr @m
  %rmin = atomicrmw min ptr @m, i64 %b acq_rel
  %nmin = load i64, ptr @m
  call void @p(i64 %rmin)
  call void @p(i64 %nmin)
  store i64 %a, ptr @m
  %rumax = atomicrmw umax ptr @m, i64 %b seq_cst
  %numax = load i64, ptr @m
  call void @p(i64 %rumax)
  call void @p(i64 %numax)
  store i64 %a, ptr @m
  %rumin = atomicrmw umin ptr @m, i64 %b monotonic
  %numin = load i64, ptr @m
  call void @p(i64 %rumin)
  call void @p(i64 %numin)
  store i64 %a, ptr @m
  %ruinc_wrap = atomicrmw uinc_wrap ptr @m, i64 %b acquire
  %nuinc_wrap = load i64, ptr @m
  call void @p(i64 %ruinc_wrap)
  call void @p(i64 %nuinc_wrap)
  store i64 %a, ptr @m
  %rudec_wrap = atomicrmw udec_wrap ptr @m, i64 %b release
  %nudec_wrap = load i64, ptr @m
  call void @p(i64 %rudec_wrap)
  call void @p(i64 %nudec_wrap)
  store i64 %a, ptr @m
  %rusub_cond = atomicrmw usub_cond ptr @m, i64 %b acq_rel
  %nusub_cond = load i64, ptr @m
  call void @p(i64 %rusub_cond)
  call void @p(i64 %nusub_cond)
  store i64 %a, ptr @m
  %rusub_sat = atomicrmw usub_sat ptr @m, i64 %b seq_cst
  %nusub_sat = load i64, ptr @m
  call void @p(i64 %rusub_sat)
  call void @p(i64 %nusub_sat)
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
