; A value that one thread computes for all is an argument of the kernel.
; RUN: kernelize
; EXPECT: report
target triple = "x86_64-pc-linux-gnu"
%struct.ident_t = type { i32, i32, i32, i32, ptr }
@0 = private unnamed_addr constant [23 x i8] c";unknown;unknown;0;0;;\00", align 1
@1 = private unnamed_addr constant %struct.ident_t { i32 0, i32 2, i32 0, i32 22, ptr @0 }, align 8
@calls = external global i32, align 4
@2 = private unnamed_addr constant %struct.ident_t { i32 0, i32 514, i32 0, i32 22, ptr @0 }, align 8
@3 = private unnamed_addr constant %struct.ident_t { i32 0, i32 66, i32 0, i32 22, ptr @0 }, align 8
define void @f(ptr %a, i64 %n, double %scale) {
entry:
  %a.addr = alloca ptr, align 8
  %n.addr = alloca i64, align 8
  %scale.addr = alloca double, align 8
  store ptr %a, ptr %a.addr, align 8
  store i64 %n, ptr %n.addr, align 8
  store double %scale, ptr %scale.addr, align 8
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @1, i32 3, ptr @f.omp_outlined, ptr %scale.addr, ptr %n.addr, ptr %a.addr)
  ret void
}
define internal void @f.omp_outlined(ptr %.global_tid., ptr %.bound_tid., ptr align 8 %scale, ptr align 8 %n, ptr align 8 %a) {
entry:
  %factor = alloca double, align 8
  %.omp.copyprivate.cpr_list = alloca [1 x ptr], align 8
  %.omp.lb = alloca i64, align 8
  %.omp.ub = alloca i64, align 8
  %.omp.stride = alloca i64, align 8
  %.omp.is_last = alloca i32, align 4
  store double 1.000000e+00, ptr %factor, align 8
  %0 = load i32, ptr %.global_tid., align 4
  %1 = call i32 @__kmpc_single(ptr @1, i32 %0)
  %.not = icmp eq i32 %1, 0
  br i1 %.not, label %omp_if.end, label %omp_if.then
omp_if.then:
  %2 = load double, ptr %scale, align 8
  %3 = load i32, ptr @calls, align 4
  %inc = add nsw i32 %3, 1
  store i32 %inc, ptr @calls, align 4
  %conv = sitofp i32 %inc to double
  %mul = fmul double %2, %conv
  store double %mul, ptr %factor, align 8
  call void @__kmpc_end_single(ptr @1, i32 %0)
  br label %omp_if.end
omp_if.end:
  %.omp.copyprivate.did_it.0 = phi i32 [ 1, %omp_if.then ], [ 0, %entry ]
  store ptr %factor, ptr %.omp.copyprivate.cpr_list, align 8
  call void @__kmpc_copyprivate(ptr @1, i32 %0, i64 8, ptr %.omp.copyprivate.cpr_list, ptr @.omp.copyprivate.copy_func, i32 %.omp.copyprivate.did_it.0)
  %4 = load i64, ptr %n, align 8
  %cmp = icmp sgt i64 %4, 0
  br i1 %cmp, label %omp.precond.then, label %omp.precond.end
omp.precond.then:
  %sub2 = add nsw i64 %4, -1
  store i64 0, ptr %.omp.lb, align 8
  store i64 %sub2, ptr %.omp.ub, align 8
  store i64 1, ptr %.omp.stride, align 8
  store i32 0, ptr %.omp.is_last, align 4
  call void @__kmpc_for_static_init_8(ptr @2, i32 %0, i32 34, ptr %.omp.is_last, ptr %.omp.lb, ptr %.omp.ub, ptr %.omp.stride, i64 1, i64 1)
  %5 = load i64, ptr %.omp.ub, align 8
  %cond = call i64 @llvm.smin.i64(i64 %5, i64 %sub2)
  store i64 %cond, ptr %.omp.ub, align 8
  %6 = load i64, ptr %.omp.lb, align 8
  %cmp7.not17 = icmp sgt i64 %6, %cond
  br i1 %cmp7.not17, label %omp.loop.exit, label %omp.inner.for.body
omp.inner.for.body:
  %.omp.iv.018 = phi i64 [ %add11, %omp.inner.for.body ], [ %6, %omp.precond.then ]
  %7 = load double, ptr %factor, align 8
  %8 = load ptr, ptr %a, align 8
  %arrayidx = getelementptr inbounds double, ptr %8, i64 %.omp.iv.018
  %9 = load double, ptr %arrayidx, align 8
  %mul10 = fmul double %7, %9
  store double %mul10, ptr %arrayidx, align 8
  %add11 = add nsw i64 %.omp.iv.018, 1
  %10 = load i64, ptr %.omp.ub, align 8
  %cmp7.not.not = icmp slt i64 %.omp.iv.018, %10
  br i1 %cmp7.not.not, label %omp.inner.for.body, label %omp.loop.exit
omp.loop.exit:
  call void @__kmpc_for_static_fini(ptr @2, i32 %0)
  br label %omp.precond.end
omp.precond.end:
  call void @__kmpc_barrier(ptr @3, i32 %0)
  ret void
}
declare i32 @__kmpc_single(ptr, i32)
declare void @__kmpc_end_single(ptr, i32)
define internal void @.omp.copyprivate.copy_func(ptr %0, ptr %1) {
entry:
  %2 = load ptr, ptr %0, align 8
  %3 = load ptr, ptr %1, align 8
  %4 = load double, ptr %3, align 8
  store double %4, ptr %2, align 8
  ret void
}
declare void @__kmpc_copyprivate(ptr, i32, i64, ptr, ptr, i32)
declare void @__kmpc_for_static_init_8(ptr, i32, i32, ptr, ptr, ptr, ptr, i64, i64)
declare void @__kmpc_for_static_fini(ptr, i32)
declare void @__kmpc_barrier(ptr, i32)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare i64 @llvm.smin.i64(i64, i64)
