; The counter of a collapsed loop: rows of one quotient, in which the remainder counts. A negative
; counter or divisor has rows of one iteration.
; RUN: uncollapse
; EXPECT: changed
define void @f(ptr %x, i64 %from, i64 %to, i64 %n) {
entry:
  br label %loop
loop:
  %k = phi i64 [ %from, %entry ], [ %next, %loop ]
  %i = sdiv i64 %k, %n
  %j = srem i64 %k, %n
  %row = mul i64 %i, 1000
  %index = add i64 %row, %j
  %at = getelementptr double, ptr %x, i64 %index
  store double 1.0, ptr %at
  %next = add nsw i64 %k, 1
  %end = icmp eq i64 %k, %to
  br i1 %end, label %done, label %loop
done:
  ret void
}
