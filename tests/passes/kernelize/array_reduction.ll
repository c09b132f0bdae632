; A reduction of an array by index: the private copy is in the thread's record.
; RUN: kernelize
; EXPECT: report
target triple = "x86_64-pc-linux-gnu"
%struct.ident_t = type { i32, i32, i32, i32, ptr }
@0 = private unnamed_addr constant [23 x i8] c";unknown;unknown;0;0;;\00", align 1
@1 = private unnamed_addr constant %struct.ident_t { i32 0, i32 514, i32 0, i32 22, ptr @0 }, align 8
@.gomp_critical_user_.reduction.var = common global [8 x i32] zeroinitializer, align 8
@2 = private unnamed_addr constant %struct.ident_t { i32 0, i32 18, i32 0, i32 22, ptr @0 }, align 8
@3 = private unnamed_addr constant %struct.ident_t { i32 0, i32 2, i32 0, i32 22, ptr @0 }, align 8
define void @f(ptr %a, i64 %n, ptr %out) {
entry:
  %a.addr = alloca ptr, align 8
  %n.addr = alloca i64, align 8
  %counts = alloca [4 x i32], align 16
  store ptr %a, ptr %a.addr, align 8
  store i64 %n, ptr %n.addr, align 8
  call void @llvm.memset.p0.i64(ptr %counts, i8 0, i64 16, i1 false)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @3, i32 3, ptr @f.omp_outlined, ptr %n.addr, ptr %counts, ptr %a.addr)
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %counts, i64 16, i1 false)
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1 immarg)
define internal void @f.omp_outlined(ptr %.global_tid., ptr %.bound_tid., ptr align 8 %n, ptr align 4 captures(address) %counts, ptr align 8 %a) {
entry:
  %.omp.lb = alloca i64, align 8
  %.omp.ub = alloca i64, align 8
  %.omp.stride = alloca i64, align 8
  %.omp.is_last = alloca i32, align 4
  %counts3 = alloca [4 x i32], align 16
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
  call void @llvm.memset.p0.i64(ptr %counts3, i8 0, i64 16, i1 false)
  %1 = load i32, ptr %.global_tid., align 4
  call void @__kmpc_for_static_init_8(ptr @1, i32 %1, i32 34, ptr %.omp.is_last, ptr %.omp.lb, ptr %.omp.ub, ptr %.omp.stride, i64 1, i64 1)
  %2 = load i64, ptr %.omp.ub, align 8
  %cond = call i64 @llvm.smin.i64(i64 %2, i64 %sub2)
  store i64 %cond, ptr %.omp.ub, align 8
  %3 = load i64, ptr %.omp.lb, align 8
  %cmp6.not30 = icmp sgt i64 %3, %cond
  br i1 %cmp6.not30, label %omp.loop.exit, label %omp.inner.for.body.lr.ph
omp.inner.for.body.lr.ph:
  %4 = load ptr, ptr %a, align 8
  br label %omp.inner.for.body
omp.inner.for.body:
  %.omp.iv.031 = phi i64 [ %3, %omp.inner.for.body.lr.ph ], [ %add9, %omp.inner.for.body ]
  %arrayidx = getelementptr inbounds i32, ptr %4, i64 %.omp.iv.031
  %5 = load i32, ptr %arrayidx, align 4
  %and = and i32 %5, 3
  %idxprom = zext nneg i32 %and to i64
  %arrayidx7 = getelementptr inbounds nuw i32, ptr %counts3, i64 %idxprom
  %6 = load i32, ptr %arrayidx7, align 4
  %add8 = add nsw i32 %6, 2
  store i32 %add8, ptr %arrayidx7, align 4
  %add9 = add i64 %.omp.iv.031, 1
  %exitcond.not = icmp eq i64 %.omp.iv.031, %cond
  br i1 %exitcond.not, label %omp.loop.exit, label %omp.inner.for.body
omp.loop.exit:
  call void @__kmpc_for_static_fini(ptr @1, i32 %1)
  store ptr %counts3, ptr %.omp.reduction.red_list, align 8
  %7 = call i32 @__kmpc_reduce_nowait(ptr @2, i32 %1, i32 1, i64 8, ptr %.omp.reduction.red_list, ptr @f.omp_outlined.omp.reduction.reduction_func, ptr @.gomp_critical_user_.reduction.var)
  switch i32 %7, label %.omp.reduction.default [
    i32 1, label %.omp.reduction.case1
    i32 2, label %.omp.reduction.case2
  ]
.omp.reduction.case1:
  %8 = getelementptr inbounds nuw i8, ptr %counts, i64 16
  br label %omp.arraycpy.body
omp.arraycpy.body:
  %omp.arraycpy.srcElementPast = phi ptr [ %counts3, %.omp.reduction.case1 ], [ %omp.arraycpy.src.element, %omp.arraycpy.body ]
  %omp.arraycpy.destElementPast10 = phi ptr [ %counts, %.omp.reduction.case1 ], [ %omp.arraycpy.dest.element12, %omp.arraycpy.body ]
  %9 = load i32, ptr %omp.arraycpy.destElementPast10, align 4
  %10 = load i32, ptr %omp.arraycpy.srcElementPast, align 4
  %add11 = add nsw i32 %10, %9
  store i32 %add11, ptr %omp.arraycpy.destElementPast10, align 4
  %omp.arraycpy.dest.element12 = getelementptr i8, ptr %omp.arraycpy.destElementPast10, i64 4
  %omp.arraycpy.src.element = getelementptr i8, ptr %omp.arraycpy.srcElementPast, i64 4
  %omp.arraycpy.done13 = icmp eq ptr %omp.arraycpy.dest.element12, %8
  br i1 %omp.arraycpy.done13, label %omp.arraycpy.done14, label %omp.arraycpy.body
omp.arraycpy.done14:
  call void @__kmpc_end_reduce_nowait(ptr @2, i32 %1, ptr @.gomp_critical_user_.reduction.var)
  br label %.omp.reduction.default
.omp.reduction.case2:
  %11 = getelementptr inbounds nuw i8, ptr %counts, i64 16
  br label %omp.arraycpy.body16
omp.arraycpy.body16:
  %omp.arraycpy.srcElementPast17 = phi ptr [ %counts3, %.omp.reduction.case2 ], [ %omp.arraycpy.src.element20, %omp.arraycpy.body16 ]
  %omp.arraycpy.destElementPast18 = phi ptr [ %counts, %.omp.reduction.case2 ], [ %omp.arraycpy.dest.element19, %omp.arraycpy.body16 ]
  %12 = load i32, ptr %omp.arraycpy.srcElementPast17, align 4
  %13 = atomicrmw add ptr %omp.arraycpy.destElementPast18, i32 %12 monotonic, align 4
  %omp.arraycpy.dest.element19 = getelementptr i8, ptr %omp.arraycpy.destElementPast18, i64 4
  %omp.arraycpy.src.element20 = getelementptr i8, ptr %omp.arraycpy.srcElementPast17, i64 4
  %omp.arraycpy.done21 = icmp eq ptr %omp.arraycpy.dest.element19, %11
  br i1 %omp.arraycpy.done21, label %.omp.reduction.default, label %omp.arraycpy.body16
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
  %4 = getelementptr i8, ptr %3, i64 16
  br label %omp.arraycpy.body
omp.arraycpy.body:
  %omp.arraycpy.srcElementPast = phi ptr [ %2, %entry ], [ %omp.arraycpy.src.element, %omp.arraycpy.body ]
  %omp.arraycpy.destElementPast = phi ptr [ %3, %entry ], [ %omp.arraycpy.dest.element, %omp.arraycpy.body ]
  %5 = load i32, ptr %omp.arraycpy.destElementPast, align 4
  %6 = load i32, ptr %omp.arraycpy.srcElementPast, align 4
  %add = add nsw i32 %6, %5
  store i32 %add, ptr %omp.arraycpy.destElementPast, align 4
  %omp.arraycpy.dest.element = getelementptr i8, ptr %omp.arraycpy.destElementPast, i64 4
  %omp.arraycpy.src.element = getelementptr i8, ptr %omp.arraycpy.srcElementPast, i64 4
  %omp.arraycpy.done = icmp eq ptr %omp.arraycpy.dest.element, %4
  br i1 %omp.arraycpy.done, label %omp.arraycpy.done2, label %omp.arraycpy.body
omp.arraycpy.done2:
  ret void
}
declare i32 @__kmpc_reduce_nowait(ptr, i32, i32, i64, ptr, ptr, ptr)
declare void @__kmpc_end_reduce_nowait(ptr, i32, ptr)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg)
