; atomicrmw at double: fadd, fsub, fmax, fmin and xchg.
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
@v = internal global [11 x double] [double 0.0, double -0.0, double 1.0, double -2.5, double 0x3FB99999A0000000, double 0x7FF0000000000000, double 0xFFF0000000000000, double 0x7FF8000000000000, double 0x41DFFFFFFFC00000, double -129.0, double 300.5]
@m = internal global double 0.0, align 8
define internal void @pair(double %a, double %b) noinline {
  store double %a, ptr @m
  %rfadd = atomicrmw fadd ptr @m, double %b monotonic
  %nfadd = load double, ptr @m
  %wfadd = fadd double %nfadd, 0.0
  %nrfadd = fcmp uno double %rfadd, %rfadd
  %brfadd = bitcast double %rfadd to i64
  %srfadd = select i1 %nrfadd, i64 1, i64 %brfadd
  call void @p(i64 %srfadd)
  %nwfadd = fcmp uno double %wfadd, %wfadd
  %bwfadd = bitcast double %wfadd to i64
  %swfadd = select i1 %nwfadd, i64 1, i64 %bwfadd
  call void @p(i64 %swfadd)
  store double %a, ptr @m
  %rfsub = atomicrmw fsub ptr @m, double %b acquire
  %nfsub = load double, ptr @m
  %wfsub = fadd double %nfsub, 0.0
  %nrfsub = fcmp uno double %rfsub, %rfsub
  %brfsub = bitcast double %rfsub to i64
  %srfsub = select i1 %nrfsub, i64 1, i64 %brfsub
  call void @p(i64 %srfsub)
  %nwfsub = fcmp uno double %wfsub, %wfsub
  %bwfsub = bitcast double %wfsub to i64
  %swfsub = select i1 %nwfsub, i64 1, i64 %bwfsub
  call void @p(i64 %swfsub)
  store double %a, ptr @m
  %rfmax = atomicrmw fmax ptr @m, double %b release
  %nfmax = load double, ptr @m
  %wfmax = fadd double %nfmax, 0.0
  %nrfmax = fcmp uno double %rfmax, %rfmax
  %brfmax = bitcast double %rfmax to i64
  %srfmax = select i1 %nrfmax, i64 1, i64 %brfmax
  call void @p(i64 %srfmax)
  %nwfmax = fcmp uno double %wfmax, %wfmax
  %bwfmax = bitcast double %wfmax to i64
  %swfmax = select i1 %nwfmax, i64 1, i64 %bwfmax
  call void @p(i64 %swfmax)
  store double %a, ptr @m
  %rfmin = atomicrmw fmin ptr @m, double %b acq_rel
  %nfmin = load double, ptr @m
  %wfmin = fadd double %nfmin, 0.0
  %nrfmin = fcmp uno double %rfmin, %rfmin
  %brfmin = bitcast double %rfmin to i64
  %srfmin = select i1 %nrfmin, i64 1, i64 %brfmin
  call void @p(i64 %srfmin)
  %nwfmin = fcmp uno double %wfmin, %wfmin
  %bwfmin = bitcast double %wfmin to i64
  %swfmin = select i1 %nwfmin, i64 1, i64 %bwfmin
  call void @p(i64 %swfmin)
  store double %a, ptr @m
  %rxchg = atomicrmw xchg ptr @m, double %b seq_cst
  %nxchg = load double, ptr @m
  %wxchg = fadd double %nxchg, 0.0
  %nrxchg = fcmp uno double %rxchg, %rxchg
  %brxchg = bitcast double %rxchg to i64
  %srxchg = select i1 %nrxchg, i64 1, i64 %brxchg
  call void @p(i64 %srxchg)
  %nwxchg = fcmp uno double %wxchg, %wxchg
  %bwxchg = bitcast double %wxchg to i64
  %swxchg = select i1 %nwxchg, i64 1, i64 %bwxchg
  call void @p(i64 %swxchg)
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
  %pa = getelementptr [11 x double], ptr @v, i64 0, i64 %i
  %pb = getelementptr [11 x double], ptr @v, i64 0, i64 %j
  %a = load volatile double, ptr %pa
  %b = load volatile double, ptr %pb
  call void @pair(double %a, double %b)
  %j1 = add i64 %j, 1
  %jd = icmp eq i64 %j1, 11
  br i1 %jd, label %on, label %oj
on:
  %i1 = add i64 %i, 1
  %id = icmp eq i64 %i1, 11
  br i1 %id, label %end, label %oi
end:
  ret i32 0
}
