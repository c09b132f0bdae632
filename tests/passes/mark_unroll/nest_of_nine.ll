; Nine rows are too many.
; RUN: mark_unroll
; EXPECT: unchanged
define void @f(ptr %m) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  br label %inner
inner:
  %j = phi i64 [ %i, %outer ], [ %j1, %inner ]
  %at = getelementptr double, ptr %m, i64 %j
  %x0 = load double, ptr %at
  %y0 = fmul double %x0, 0.5
  store double %y0, ptr %at
  %j1 = add nuw nsw i64 %j, 1
  %jmore = icmp ult i64 %j1, 9
  br i1 %jmore, label %inner, label %latch
latch:
  %i1 = add nuw nsw i64 %i, 1
  %imore = icmp ult i64 %i1, 9
  br i1 %imore, label %outer, label %end
end:
  ret void
}
