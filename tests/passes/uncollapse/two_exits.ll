; A search ends in the middle of a row.
; RUN: uncollapse
; EXPECT: unchanged
define i64 @f(ptr %x, i64 %to, i64 %n) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %more ]
  %j = srem i64 %k, %n
  %at = getelementptr double, ptr %x, i64 %j
  %element = load double, ptr %at
  %found = fcmp oeq double %element, 0.0
  br i1 %found, label %done, label %more
more:
  %next = add nsw i64 %k, 1
  %end = icmp eq i64 %k, %to
  br i1 %end, label %done, label %loop
done:
  %result = phi i64 [ %k, %loop ], [ -1, %more ]
  ret i64 %result
}
