; The inner loop outweighs a division.
; RUN: uncollapse
; EXPECT: unchanged
define void @f(ptr %x, i64 %to, i64 %n) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %more ]
  %j = srem i64 %k, %n
  br label %inner
inner:
  %l = phi i64 [ 0, %loop ], [ %l1, %inner ]
  %index = add i64 %j, %l
  %at = getelementptr double, ptr %x, i64 %index
  store double 1.0, ptr %at
  %l1 = add nsw i64 %l, 1
  %last = icmp eq i64 %l1, %n
  br i1 %last, label %more, label %inner
more:
  %next = add nsw i64 %k, 1
  %end = icmp eq i64 %k, %to
  br i1 %end, label %done, label %loop
done:
  ret void
}
