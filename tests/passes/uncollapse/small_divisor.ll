; Rows of seven iterations would cost more than the multiplications that a division by a constant takes.
; RUN: uncollapse
; EXPECT: unchanged
define void @f(ptr %x, i64 %to) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %j = srem i64 %k, 7
  %at = getelementptr double, ptr %x, i64 %j
  store double 1.0, ptr %at
  %next = add nsw i64 %k, 1
  %end = icmp eq i64 %k, %to
  br i1 %end, label %done, label %loop
done:
  ret void
}
