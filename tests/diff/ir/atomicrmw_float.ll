; atomicrmw at float: fadd, fsub, fmax, fmin and xchg.
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
@v = internal global [11 x float] [float 0.0, float -0.0, float 1.0, float -2.5, float 0x3FB99999A0000000, float 0x7FF0000000000000, float 0xFFF0000000000000, float 0x7FF8000000000000, float 0x41E0000000000000, float -129.0, float 300.5]
@m = internal global float 0.0, align 8
define internal void @pair(float %a, float %b) noinline {
  store float %a, ptr @m
  %rfadd = atomicrmw fadd ptr @m, float %b monotonic
  %nfadd = load float, ptr @m
  %wfadd = fadd float %nfadd, 0.0
  %nrfadd = fcmp uno float %rfadd, %rfadd
  %brfadd = bitcast float %rfadd to i32
  %srfadd = select i1 %nrfadd, i32 1, i32 %brfadd
  %zfrfadd = zext i32 %srfadd to i64
  call void @p(i64 %zfrfadd)
  %nwfadd = fcmp uno float %wfadd, %wfadd
  %bwfadd = bitcast float %wfadd to i32
  %swfadd = select i1 %nwfadd, i32 1, i32 %bwfadd
  %zfwfadd = zext i32 %swfadd to i64
  call void @p(i64 %zfwfadd)
  store float %a, ptr @m
  %rfsub = atomicrmw fsub ptr @m, float %b acquire
  %nfsub = load float, ptr @m
  %wfsub = fadd float %nfsub, 0.0
  %nrfsub = fcmp uno float %rfsub, %rfsub
  %brfsub = bitcast float %rfsub to i32
  %srfsub = select i1 %nrfsub, i32 1, i32 %brfsub
  %zfrfsub = zext i32 %srfsub to i64
  call void @p(i64 %zfrfsub)
  %nwfsub = fcmp uno float %wfsub, %wfsub
  %bwfsub = bitcast float %wfsub to i32
  %swfsub = select i1 %nwfsub, i32 1, i32 %bwfsub
  %zfwfsub = zext i32 %swfsub to i64
  call void @p(i64 %zfwfsub)
  store float %a, ptr @m
  %rfmax = atomicrmw fmax ptr @m, float %b release
  %nfmax = load float, ptr @m
  %wfmax = fadd float %nfmax, 0.0
  %nrfmax = fcmp uno float %rfmax, %rfmax
  %brfmax = bitcast float %rfmax to i32
  %srfmax = select i1 %nrfmax, i32 1, i32 %brfmax
  %zfrfmax = zext i32 %srfmax to i64
  call void @p(i64 %zfrfmax)
  %nwfmax = fcmp uno float %wfmax, %wfmax
  %bwfmax = bitcast float %wfmax to i32
  %swfmax = select i1 %nwfmax, i32 1, i32 %bwfmax
  %zfwfmax = zext i32 %swfmax to i64
  call void @p(i64 %zfwfmax)
  store float %a, ptr @m
  %rfmin = atomicrmw fmin ptr @m, float %b acq_rel
  %nfmin = load float, ptr @m
  %wfmin = fadd float %nfmin, 0.0
  %nrfmin = fcmp uno float %rfmin, %rfmin
  %brfmin = bitcast float %rfmin to i32
  %srfmin = select i1 %nrfmin, i32 1, i32 %brfmin
  %zfrfmin = zext i32 %srfmin to i64
  call void @p(i64 %zfrfmin)
  %nwfmin = fcmp uno float %wfmin, %wfmin
  %bwfmin = bitcast float %wfmin to i32
  %swfmin = select i1 %nwfmin, i32 1, i32 %bwfmin
  %zfwfmin = zext i32 %swfmin to i64
  call void @p(i64 %zfwfmin)
  store float %a, ptr @m
  %rxchg = atomicrmw xchg ptr @m, float %b seq_cst
  %nxchg = load float, ptr @m
  %wxchg = fadd float %nxchg, 0.0
  %nrxchg = fcmp uno float %rxchg, %rxchg
  %brxchg = bitcast float %rxchg to i32
  %srxchg = select i1 %nrxchg, i32 1, i32 %brxchg
  %zfrxchg = zext i32 %srxchg to i64
  call void @p(i64 %zfrxchg)
  %nwxchg = fcmp uno float %wxchg, %wxchg
  %bwxchg = bitcast float %wxchg to i32
  %swxchg = select i1 %nwxchg, i32 1, i32 %bwxchg
  %zfwxchg = zext i32 %swxchg to i64
  call void @p(i64 %zfwxchg)
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
  %pa = getelementptr [11 x float], ptr @v, i64 0, i64 %i
  %pb = getelementptr [11 x float], ptr @v, i64 0, i64 %j
  %a = load volatile float, ptr %pa
  %b = load volatile float, ptr %pb
  call void @pair(float %a, float %b)
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
