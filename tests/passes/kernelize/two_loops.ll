; Two loops in sequence are two kernels, which run the code around them.
; RUN: kernelize
; EXPECT: report
target triple = "x86_64-pc-linux-gnu"
%struct.ident_t = type { i32, i32, i32, i32, ptr }
@0 = private unnamed_addr constant [23 x i8] c";unknown;unknown;0;0;;\00", align 1
@1 = private unnamed_addr constant %struct.ident_t { i32 0, i32 514, i32 0, i32 22, ptr @0 }, align 8
@2 = private unnamed_addr constant %struct.ident_t { i32 0, i32 66, i32 0, i32 22, ptr @0 }, align 8
@3 = private unnamed_addr constant %struct.ident_t { i32 0, i32 2, i32 0, i32 22, ptr @0 }, align 8
define void @f(ptr %a, ptr %b, i64 %n) {
entry:
  %a.addr = alloca ptr, align 8
  %b.addr = alloca ptr, align 8
  %n.addr = alloca i64, align 8
  store ptr %a, ptr %a.addr, align 8
  store ptr %b, ptr %b.addr, align 8
  store i64 %n, ptr %n.addr, align 8
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @3, i32 3, ptr @f.omp_outlined, ptr %n.addr, ptr %a.addr, ptr %b.addr)
  ret void
}
define internal void @f.omp_outlined(ptr %.global_tid., ptr %.bound_tid., ptr align 8 %n, ptr align 8 %a, ptr align 8 %b) {
entry:
  %.omp.lb = alloca i64, align 8
  %.omp.ub = alloca i64, align 8
  %.omp.stride = alloca i64, align 8
  %.omp.is_last = alloca i32, align 4
  %.omp.lb19 = alloca i64, align 8
  %.omp.ub20 = alloca i64, align 8
  %.omp.stride21 = alloca i64, align 8
  %.omp.is_last22 = alloca i32, align 4
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
  %cmp5.not63 = icmp sgt i64 %3, %cond
  br i1 %cmp5.not63, label %omp.loop.exit, label %omp.inner.for.body
omp.inner.for.body:
  %.omp.iv.064 = phi i64 [ %add7, %omp.inner.for.body ], [ %3, %omp.precond.then ]
  %conv = sitofp i64 %.omp.iv.064 to double
  %mul6 = fmul double %conv, 5.000000e-01
  %4 = load ptr, ptr %a, align 8
  %arrayidx = getelementptr inbounds double, ptr %4, i64 %.omp.iv.064
  store double %mul6, ptr %arrayidx, align 8
  %add7 = add nsw i64 %.omp.iv.064, 1
  %5 = load i64, ptr %.omp.ub, align 8
  %cmp5.not.not = icmp slt i64 %.omp.iv.064, %5
  br i1 %cmp5.not.not, label %omp.inner.for.body, label %omp.loop.exit
omp.loop.exit:
  call void @__kmpc_for_static_fini(ptr @1, i32 %1)
  br label %omp.precond.end
omp.precond.end:
  %6 = load i32, ptr %.global_tid., align 4
  call void @__kmpc_barrier(ptr @2, i32 %6)
  %7 = load i64, ptr %n, align 8
  %cmp16 = icmp sgt i64 %7, 0
  br i1 %cmp16, label %omp.precond.then18, label %omp.precond.end45
omp.precond.then18:
  %sub14 = add nsw i64 %7, -1
  store i64 0, ptr %.omp.lb19, align 8
  store i64 %sub14, ptr %.omp.ub20, align 8
  store i64 1, ptr %.omp.stride21, align 8
  store i32 0, ptr %.omp.is_last22, align 4
  call void @__kmpc_for_static_init_8(ptr @1, i32 %6, i32 34, ptr %.omp.is_last22, ptr %.omp.lb19, ptr %.omp.ub20, ptr %.omp.stride21, i64 1, i64 1)
  %8 = load i64, ptr %.omp.ub20, align 8
  %cond29 = call i64 @llvm.smin.i64(i64 %8, i64 %sub14)
  store i64 %cond29, ptr %.omp.ub20, align 8
  %9 = load i64, ptr %.omp.lb19, align 8
  %cmp31.not65 = icmp sgt i64 %9, %cond29
  br i1 %cmp31.not65, label %omp.loop.exit44, label %omp.inner.for.body34
omp.inner.for.body34:
  %.omp.iv8.066 = phi i64 [ %add42, %omp.inner.for.body34 ], [ %9, %omp.precond.then18 ]
  %10 = load ptr, ptr %a, align 8
  %arrayidx37 = getelementptr inbounds double, ptr %10, i64 %.omp.iv8.066
  %11 = load double, ptr %arrayidx37, align 8
  %add38 = fadd double %11, 1.000000e+00
  %12 = load ptr, ptr %b, align 8
  %arrayidx39 = getelementptr inbounds double, ptr %12, i64 %.omp.iv8.066
  store double %add38, ptr %arrayidx39, align 8
  %add42 = add nsw i64 %.omp.iv8.066, 1
  %13 = load i64, ptr %.omp.ub20, align 8
  %cmp31.not.not = icmp slt i64 %.omp.iv8.066, %13
  br i1 %cmp31.not.not, label %omp.inner.for.body34, label %omp.loop.exit44
omp.loop.exit44:
  call void @__kmpc_for_static_fini(ptr @1, i32 %6)
  br label %omp.precond.end45
omp.precond.end45:
  call void @__kmpc_barrier(ptr @2, i32 %6)
  ret void
}
declare void @__kmpc_for_static_init_8(ptr, i32, i32, ptr, ptr, ptr, ptr, i64, i64)
declare void @__kmpc_for_static_fini(ptr, i32)
declare void @__kmpc_barrier(ptr, i32)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare i64 @llvm.smin.i64(i64, i64)
