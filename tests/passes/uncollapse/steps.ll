; The counter increases by two, so a row may begin at either of two remainders.
; RUN: uncollapse
; EXPECT: unchanged
define void @f(ptr %x, i64 %to, i64 %n) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %j = srem i64 %k, %n
  %at = getelementptr double, ptr %x, i64 %j
  store double 1.0, ptr %at
  %next = add nsw i64 %k, 2
  %again = icmp slt i64 %next, %to
  br i1 %again, label %loop, label %done
done:
  ret void
}
