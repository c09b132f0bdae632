; A loop whose length LLVM knows is only marked; what it said about partial unrolling goes.
; RUN: nvptx_unroll_reductions
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
declare i32 @__kmpc_nvptx_teams_reduce_nowait_v2(ptr, ptr, i32, i64, ptr, ptr, ptr, ptr, ptr, ptr, ptr)
define internal void @combine(ptr %records, i32 %n, ptr %list) {
entry:
  %to = load ptr, ptr %list
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr double, ptr %to, i64 %i
  %q = getelementptr double, ptr %records, i64 %i
  %x = load double, ptr %p
  %y = load double, ptr %q
  %s = fadd double %x, %y
  store double %s, ptr %p
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 24
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret void
}
define i32 @kernel(ptr %list) {
  %r = call i32 @__kmpc_nvptx_teams_reduce_nowait_v2(ptr null, ptr null, i32 1024, i64 192, ptr %list, ptr null, ptr null, ptr null, ptr null, ptr null, ptr @combine)
  ret i32 %r
}
!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.mustprogress"}
!2 = !{!"llvm.loop.unroll.disable"}
