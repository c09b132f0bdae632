; A private array that a loop only adds to, and a critical region that adds it to memory.
; RUN: kernelize
; EXPECT: report
target triple = "x86_64-pc-linux-gnu"
%struct.ident_t = type { i32, i32, i32, i32, ptr }
@0 = private unnamed_addr constant [23 x i8] c";unknown;unknown;0;0;;\00", align 1
@1 = private unnamed_addr constant %struct.ident_t { i32 0, i32 514, i32 0, i32 22, ptr @0 }, align 8
@2 = private unnamed_addr constant %struct.ident_t { i32 0, i32 66, i32 0, i32 22, ptr @0 }, align 8
@.gomp_critical_user_.var = common global [8 x i32] zeroinitializer, align 8
@3 = private unnamed_addr constant %struct.ident_t { i32 0, i32 2, i32 0, i32 22, ptr @0 }, align 8
define void @f(ptr %a, i64 %n, ptr %out) {
entry:
  %a.addr = alloca ptr, align 8
  %n.addr = alloca i64, align 8
  %out.addr = alloca ptr, align 8
  store ptr %a, ptr %a.addr, align 8
  store i64 %n, ptr %n.addr, align 8
  store ptr %out, ptr %out.addr, align 8
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @3, i32 3, ptr @f.omp_outlined, ptr %n.addr, ptr %a.addr, ptr %out.addr)
  ret void
}
define internal void @f.omp_outlined(ptr %.global_tid., ptr %.bound_tid., ptr align 8 %n, ptr align 8 %a, ptr align 8 %out) {
entry:
  %own = alloca [4 x i32], align 16
  %.omp.lb = alloca i64, align 8
  %.omp.ub = alloca i64, align 8
  %.omp.stride = alloca i64, align 8
  %.omp.is_last = alloca i32, align 4
  call void @llvm.memset.p0.i64(ptr %own, i8 0, i64 16, i1 false)
  %0 = load i64, ptr %n, align 8
  %cmp = icmp sgt i64 %0, 0
  br i1 %cmp, label %omp.precond.then, label %omp.precond.end
omp.precond.then:
  %sub2 = add nsw i64 %0, -1
  store i64 0, ptr %.omp.lb, align 8
  store i64 %sub2, ptr %.omp.ub, align 8
  store i64 1, ptr %.omp.stride, align 8
  store i32 0, ptr %.omp.is_last, align 4
  %1 = load i32, ptr %.global_tid., align 4
  call void @__kmpc_for_static_init_8(ptr @1, i32 %1, i32 34, ptr %.omp.is_last, ptr %.omp.lb, ptr %.omp.ub, ptr %.omp.stride, i64 1, i64 1)
  %2 = load i64, ptr %.omp.ub, align 8
  %cond = call i64 @llvm.smin.i64(i64 %2, i64 %sub2)
  store i64 %cond, ptr %.omp.ub, align 8
  %3 = load i64, ptr %.omp.lb, align 8
  %cmp5.not26 = icmp sgt i64 %3, %cond
  br i1 %cmp5.not26, label %omp.loop.exit, label %omp.inner.for.body.lr.ph
omp.inner.for.body.lr.ph:
  %4 = load ptr, ptr %a, align 8
  br label %omp.inner.for.body
omp.inner.for.body:
  %.omp.iv.027 = phi i64 [ %3, %omp.inner.for.body.lr.ph ], [ %add8, %omp.inner.for.body ]
  %arrayidx = getelementptr inbounds i32, ptr %4, i64 %.omp.iv.027
  %5 = load i32, ptr %arrayidx, align 4
  %and = and i32 %5, 3
  %idxprom = zext nneg i32 %and to i64
  %arrayidx6 = getelementptr inbounds nuw i32, ptr %own, i64 %idxprom
  %6 = load i32, ptr %arrayidx6, align 4
  %add7 = add nsw i32 %6, 2
  store i32 %add7, ptr %arrayidx6, align 4
  %add8 = add i64 %.omp.iv.027, 1
  %exitcond.not = icmp eq i64 %.omp.iv.027, %cond
  br i1 %exitcond.not, label %omp.loop.exit, label %omp.inner.for.body
omp.loop.exit:
  call void @__kmpc_for_static_fini(ptr @1, i32 %1)
  br label %omp.precond.end
omp.precond.end:
  %7 = load i32, ptr %.global_tid., align 4
  call void @__kmpc_barrier(ptr @2, i32 %7)
  call void @__kmpc_critical(ptr @3, i32 %7, ptr @.gomp_critical_user_.var)
  br label %for.body
for.cond.cleanup:
  call void @__kmpc_end_critical(ptr @3, i32 %7, ptr @.gomp_critical_user_.var)
  ret void
for.body:
  %indvars.iv = phi i64 [ 0, %omp.precond.end ], [ %indvars.iv.next, %for.body ]
  %arrayidx11 = getelementptr inbounds nuw i32, ptr %own, i64 %indvars.iv
  %8 = load i32, ptr %arrayidx11, align 4
  %9 = load ptr, ptr %out, align 8
  %arrayidx13 = getelementptr inbounds nuw i32, ptr %9, i64 %indvars.iv
  %10 = load i32, ptr %arrayidx13, align 4
  %add14 = add nsw i32 %10, %8
  store i32 %add14, ptr %arrayidx13, align 4
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond30.not = icmp eq i64 %indvars.iv.next, 4
  br i1 %exitcond30.not, label %for.cond.cleanup, label %for.body
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1 immarg)
declare void @__kmpc_for_static_init_8(ptr, i32, i32, ptr, ptr, ptr, ptr, i64, i64)
declare void @__kmpc_for_static_fini(ptr, i32)
declare void @__kmpc_barrier(ptr, i32)
declare void @__kmpc_critical(ptr, i32, ptr)
declare void @__kmpc_end_critical(ptr, i32, ptr)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare i64 @llvm.smin.i64(i64, i64)
