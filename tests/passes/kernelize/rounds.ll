; A sequential loop around two loops and a part for one thread, as a host schedule.
; RUN: kernelize
; EXPECT: report
target triple = "x86_64-pc-linux-gnu"
%struct.ident_t = type { i32, i32, i32, i32, ptr }
@0 = private unnamed_addr constant [23 x i8] c";unknown;unknown;0;0;;\00", align 1
@1 = private unnamed_addr constant %struct.ident_t { i32 0, i32 514, i32 0, i32 22, ptr @0 }, align 8
@2 = private unnamed_addr constant %struct.ident_t { i32 0, i32 66, i32 0, i32 22, ptr @0 }, align 8
@3 = private unnamed_addr constant %struct.ident_t { i32 0, i32 2, i32 0, i32 22, ptr @0 }, align 8
@calls = external global i32, align 4
@4 = private unnamed_addr constant %struct.ident_t { i32 0, i32 322, i32 0, i32 22, ptr @0 }, align 8
define void @f(ptr %a, ptr %b, i64 %n, i32 %rounds) {
entry:
  %a.addr = alloca ptr, align 8
  %b.addr = alloca ptr, align 8
  %n.addr = alloca i64, align 8
  %rounds.addr = alloca i32, align 4
  store ptr %a, ptr %a.addr, align 8
  store ptr %b, ptr %b.addr, align 8
  store i64 %n, ptr %n.addr, align 8
  store i32 %rounds, ptr %rounds.addr, align 4
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @3, i32 4, ptr @f.omp_outlined, ptr %rounds.addr, ptr %n.addr, ptr %b.addr, ptr %a.addr)
  ret void
}
define internal void @f.omp_outlined(ptr %.global_tid., ptr %.bound_tid., ptr align 4 %rounds, ptr align 8 %n, ptr align 8 %b, ptr align 8 %a) {
entry:
  %.omp.lb = alloca i64, align 8
  %.omp.ub = alloca i64, align 8
  %.omp.stride = alloca i64, align 8
  %.omp.is_last = alloca i32, align 4
  %.omp.lb21 = alloca i64, align 8
  %.omp.ub22 = alloca i64, align 8
  %.omp.stride23 = alloca i64, align 8
  %.omp.is_last24 = alloca i32, align 4
  %0 = load i32, ptr %rounds, align 4
  %cmp75 = icmp sgt i32 %0, 0
  br i1 %cmp75, label %for.body, label %for.cond.cleanup
for.cond.cleanup:
  ret void
for.body:
  %r.076 = phi i32 [ %inc49, %omp.precond.end48 ], [ 0, %entry ]
  %1 = load i64, ptr %n, align 8
  %cmp3 = icmp sgt i64 %1, 0
  br i1 %cmp3, label %omp.precond.then, label %omp.precond.end
omp.precond.then:
  %sub2 = add nsw i64 %1, -1
  store i64 0, ptr %.omp.lb, align 8
  store i64 %sub2, ptr %.omp.ub, align 8
  store i64 1, ptr %.omp.stride, align 8
  store i32 0, ptr %.omp.is_last, align 4
  %2 = load i32, ptr %.global_tid., align 4
  call void @__kmpc_for_static_init_8(ptr @1, i32 %2, i32 34, ptr %.omp.is_last, ptr %.omp.lb, ptr %.omp.ub, ptr %.omp.stride, i64 1, i64 1)
  %3 = load i64, ptr %.omp.ub, align 8
  %cond = call i64 @llvm.smin.i64(i64 %3, i64 %sub2)
  store i64 %cond, ptr %.omp.ub, align 8
  %4 = load i64, ptr %.omp.lb, align 8
  %cmp6.not71 = icmp sgt i64 %4, %cond
  br i1 %cmp6.not71, label %omp.loop.exit, label %omp.inner.for.body.lr.ph
omp.inner.for.body.lr.ph:
  %conv = uitofp nneg i32 %r.076 to double
  br label %omp.inner.for.body
omp.inner.for.body:
  %.omp.iv.072 = phi i64 [ %4, %omp.inner.for.body.lr.ph ], [ %add9, %omp.inner.for.body ]
  %5 = load ptr, ptr %a, align 8
  %arrayidx = getelementptr inbounds double, ptr %5, i64 %.omp.iv.072
  %6 = load double, ptr %arrayidx, align 8
  %7 = call double @llvm.fmuladd.f64(double %6, double 5.000000e-01, double %conv)
  %8 = load ptr, ptr %b, align 8
  %arrayidx8 = getelementptr inbounds double, ptr %8, i64 %.omp.iv.072
  store double %7, ptr %arrayidx8, align 8
  %add9 = add nsw i64 %.omp.iv.072, 1
  %9 = load i64, ptr %.omp.ub, align 8
  %cmp6.not.not = icmp slt i64 %.omp.iv.072, %9
  br i1 %cmp6.not.not, label %omp.inner.for.body, label %omp.loop.exit
omp.loop.exit:
  call void @__kmpc_for_static_fini(ptr @1, i32 %2)
  br label %omp.precond.end
omp.precond.end:
  %10 = load i32, ptr %.global_tid., align 4
  call void @__kmpc_barrier(ptr @2, i32 %10)
  %11 = call i32 @__kmpc_single(ptr @3, i32 %10)
  %.not = icmp eq i32 %11, 0
  br i1 %.not, label %omp_if.end, label %omp_if.then
omp_if.then:
  %12 = load i32, ptr @calls, align 4
  %inc = add nsw i32 %12, 1
  store i32 %inc, ptr @calls, align 4
  call void @__kmpc_end_single(ptr @3, i32 %10)
  br label %omp_if.end
omp_if.end:
  call void @__kmpc_barrier(ptr @4, i32 %10)
  %13 = load i64, ptr %n, align 8
  %cmp18 = icmp sgt i64 %13, 0
  br i1 %cmp18, label %omp.precond.then20, label %omp.precond.end48
omp.precond.then20:
  %sub16 = add nsw i64 %13, -1
  store i64 0, ptr %.omp.lb21, align 8
  store i64 %sub16, ptr %.omp.ub22, align 8
  store i64 1, ptr %.omp.stride23, align 8
  store i32 0, ptr %.omp.is_last24, align 4
  call void @__kmpc_for_static_init_8(ptr @1, i32 %10, i32 34, ptr %.omp.is_last24, ptr %.omp.lb21, ptr %.omp.ub22, ptr %.omp.stride23, i64 1, i64 1)
  %14 = load i64, ptr %.omp.ub22, align 8
  %cond31 = call i64 @llvm.smin.i64(i64 %14, i64 %sub16)
  store i64 %cond31, ptr %.omp.ub22, align 8
  %15 = load i64, ptr %.omp.lb21, align 8
  %cmp33.not73 = icmp sgt i64 %15, %cond31
  br i1 %cmp33.not73, label %omp.loop.exit47, label %omp.inner.for.body36
omp.inner.for.body36:
  %.omp.iv10.074 = phi i64 [ %add45, %omp.inner.for.body36 ], [ %15, %omp.precond.then20 ]
  %16 = load ptr, ptr %b, align 8
  %arrayidx39 = getelementptr inbounds double, ptr %16, i64 %.omp.iv10.074
  %17 = load double, ptr %arrayidx39, align 8
  %18 = load i32, ptr @calls, align 4
  %conv40 = sitofp i32 %18 to double
  %add41 = fadd double %17, %conv40
  %19 = load ptr, ptr %a, align 8
  %arrayidx42 = getelementptr inbounds double, ptr %19, i64 %.omp.iv10.074
  store double %add41, ptr %arrayidx42, align 8
  %add45 = add nsw i64 %.omp.iv10.074, 1
  %20 = load i64, ptr %.omp.ub22, align 8
  %cmp33.not.not = icmp slt i64 %.omp.iv10.074, %20
  br i1 %cmp33.not.not, label %omp.inner.for.body36, label %omp.loop.exit47
omp.loop.exit47:
  call void @__kmpc_for_static_fini(ptr @1, i32 %10)
  br label %omp.precond.end48
omp.precond.end48:
  call void @__kmpc_barrier(ptr @2, i32 %10)
  %inc49 = add nuw nsw i32 %r.076, 1
  %21 = load i32, ptr %rounds, align 4
  %cmp = icmp slt i32 %inc49, %21
  br i1 %cmp, label %for.body, label %for.cond.cleanup
}
declare void @__kmpc_for_static_init_8(ptr, i32, i32, ptr, ptr, ptr, ptr, i64, i64)
declare double @llvm.fmuladd.f64(double, double, double)
declare void @__kmpc_for_static_fini(ptr, i32)
declare void @__kmpc_barrier(ptr, i32)
declare i32 @__kmpc_single(ptr, i32)
declare void @__kmpc_end_single(ptr, i32)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare i64 @llvm.smin.i64(i64, i64)
