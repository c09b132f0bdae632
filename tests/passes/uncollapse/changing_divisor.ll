; The divisor differs from iteration to iteration.
; RUN: uncollapse
; EXPECT: unchanged
define void @f(ptr %x, i64 %to) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %n = load i64, ptr %x
  %j = srem i64 %k, %n
  %at = getelementptr i64, ptr %x, i64 %j
  store i64 1, ptr %at
  %next = add nsw i64 %k, 1
  %end = icmp eq i64 %k, %to
  br i1 %end, label %done, label %loop
done:
  ret void
}
