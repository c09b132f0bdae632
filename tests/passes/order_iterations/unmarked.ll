; The loop has other properties.
; RUN: order_iterations
; EXPECT: unchanged
define void @f(ptr %a, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i64, ptr %a, i64 %i
  %old = load i64, ptr %at, !llvm.access.group !0
  %new = add i64 %old, 1
  store i64 %new, ptr %at, !llvm.access.group !0
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end, !llvm.loop !1
end:
  ret void
}
!0 = distinct !{}
!1 = distinct !{!1, !3}
!3 = !{!"llvm.loop.mustprogress"}
