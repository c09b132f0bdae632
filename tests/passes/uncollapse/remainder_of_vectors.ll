; Few iterations are left behind a vectorized loop.
; RUN: uncollapse
; EXPECT: unchanged
define void @f(ptr %x, i64 %from, i64 %to, i64 %n) {
entry:
  br label %loop
loop:
  %k = phi i64 [ %from, %entry ], [ %next, %loop ]
  %j = srem i64 %k, %n
  %at = getelementptr double, ptr %x, i64 %j
  store double 1.0, ptr %at
  %next = add nsw i64 %k, 1
  %end = icmp eq i64 %k, %to
  br i1 %end, label %done, label %loop, !llvm.loop !0
done:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.isvectorized", i32 1}
