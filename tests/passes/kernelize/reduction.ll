; A reduction of a number: private copies are combined with the thread's record.
; RUN: kernelize
; EXPECT: report
target triple = "x86_64-pc-linux-gnu"
%struct.ident_t = type { i32, i32, i32, i32, ptr }
@0 = private unnamed_addr constant [23 x i8] c";unknown;unknown;0;0;;\00", align 1
@1 = private unnamed_addr constant %struct.ident_t { i32 0, i32 514, i32 0, i32 22, ptr @0 }, align 8
@.gomp_critical_user_.reduction.var = common global [8 x i32] zeroinitializer, align 8
@2 = private unnamed_addr constant %struct.ident_t { i32 0, i32 18, i32 0, i32 22, ptr @0 }, align 8
@3 = private unnamed_addr constant %struct.ident_t { i32 0, i32 2, i32 0, i32 22, ptr @0 }, align 8
define double @f(ptr %a, i64 %n) {
entry:
  %a.addr = alloca ptr, align 8
  %n.addr = alloca i64, align 8
  %sum = alloca double, align 8
  store ptr %a, ptr %a.addr, align 8
  store i64 %n, ptr %n.addr, align 8
  store double 0.000000e+00, ptr %sum, align 8
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @3, i32 3, ptr @f.omp_outlined, ptr %n.addr, ptr %sum, ptr %a.addr)
  %0 = load double, ptr %sum, align 8
  ret double %0
}
define internal void @f.omp_outlined(ptr %.global_tid., ptr %.bound_tid., ptr align 8 %n, ptr align 8 %sum, ptr align 8 %a) {
entry:
  %.omp.lb = alloca i64, align 8
  %.omp.ub = alloca i64, align 8
  %.omp.stride = alloca i64, align 8
  %.omp.is_last = alloca i32, align 4
  %sum3 = alloca double, align 8
  %.omp.reduction.red_list = alloca [1 x ptr], align 8
  %0 = load i64, ptr %n, align 8
  %cmp = icmp sgt i64 %0, 0
  br i1 %cmp, label %omp.precond.then, label %omp.precond.end
omp.precond.then:
  %sub2 = add nsw i64 %0, -1
  store i64 0, ptr %.omp.lb, align 8
  store i64 %sub2, ptr %.omp.ub, align 8
  store i64 1, ptr %.omp.stride, align 8
  store i32 0, ptr %.omp.is_last, align 4
  store double 0.000000e+00, ptr %sum3, align 8
  %1 = load i32, ptr %.global_tid., align 4
  call void @__kmpc_for_static_init_8(ptr @1, i32 %1, i32 34, ptr %.omp.is_last, ptr %.omp.lb, ptr %.omp.ub, ptr %.omp.stride, i64 1, i64 1)
  %2 = load i64, ptr %.omp.ub, align 8
  %cond = call i64 @llvm.smin.i64(i64 %2, i64 %sub2)
  store i64 %cond, ptr %.omp.ub, align 8
  %3 = load i64, ptr %.omp.lb, align 8
  %cmp6.not18 = icmp sgt i64 %3, %cond
  br i1 %cmp6.not18, label %omp.loop.exit, label %omp.inner.for.body.lr.ph
omp.inner.for.body.lr.ph:
  %sum3.promoted = load double, ptr %sum3, align 8
  %4 = load ptr, ptr %a, align 8
  br label %omp.inner.for.body
omp.inner.for.body:
  %.omp.iv.020 = phi i64 [ %3, %omp.inner.for.body.lr.ph ], [ %add8, %omp.inner.for.body ]
  %add71719 = phi double [ %sum3.promoted, %omp.inner.for.body.lr.ph ], [ %add7, %omp.inner.for.body ]
  %arrayidx = getelementptr inbounds double, ptr %4, i64 %.omp.iv.020
  %5 = load double, ptr %arrayidx, align 8
  %add7 = fadd double %5, %add71719
  store double %add7, ptr %sum3, align 8
  %add8 = add i64 %.omp.iv.020, 1
  %exitcond.not = icmp eq i64 %.omp.iv.020, %cond
  br i1 %exitcond.not, label %omp.loop.exit, label %omp.inner.for.body
omp.loop.exit:
  call void @__kmpc_for_static_fini(ptr @1, i32 %1)
  store ptr %sum3, ptr %.omp.reduction.red_list, align 8
  %6 = call i32 @__kmpc_reduce_nowait(ptr @2, i32 %1, i32 1, i64 8, ptr %.omp.reduction.red_list, ptr @f.omp_outlined.omp.reduction.reduction_func, ptr @.gomp_critical_user_.reduction.var)
  switch i32 %6, label %.omp.reduction.default [
    i32 1, label %.omp.reduction.case1
    i32 2, label %.omp.reduction.case2
  ]
.omp.reduction.case1:
  %7 = load double, ptr %sum, align 8
  %8 = load double, ptr %sum3, align 8
  %add9 = fadd double %7, %8
  store double %add9, ptr %sum, align 8
  call void @__kmpc_end_reduce_nowait(ptr @2, i32 %1, ptr @.gomp_critical_user_.reduction.var)
  br label %.omp.reduction.default
.omp.reduction.case2:
  %9 = load double, ptr %sum3, align 8
  %10 = atomicrmw fadd ptr %sum, double %9 monotonic, align 8
  br label %.omp.reduction.default
.omp.reduction.default:
  br label %omp.precond.end
omp.precond.end:
  ret void
}
declare void @__kmpc_for_static_init_8(ptr, i32, i32, ptr, ptr, ptr, ptr, i64, i64)
declare void @__kmpc_for_static_fini(ptr, i32)
define internal void @f.omp_outlined.omp.reduction.reduction_func(ptr %0, ptr %1) {
entry:
  %2 = load ptr, ptr %1, align 8
  %3 = load ptr, ptr %0, align 8
  %4 = load double, ptr %3, align 8
  %5 = load double, ptr %2, align 8
  %add = fadd double %4, %5
  store double %add, ptr %3, align 8
  ret void
}
declare i32 @__kmpc_reduce_nowait(ptr, i32, i32, i64, ptr, ptr, ptr)
declare void @__kmpc_end_reduce_nowait(ptr, i32, ptr)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare i64 @llvm.smin.i64(i64, i64)
