; The loop may never divide, and the divisor may be zero.
; RUN: uncollapse
; EXPECT: unchanged
define void @f(ptr %x, i64 %to, i64 %n) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %more ]
  %old = load double, ptr %x
  %set = fcmp oeq double %old, 0.0
  br i1 %set, label %then, label %more
then:
  %j = srem i64 %k, %n
  %at = getelementptr double, ptr %x, i64 %j
  store double 1.0, ptr %at
  br label %more
more:
  %next = add nsw i64 %k, 1
  %end = icmp eq i64 %k, %to
  br i1 %end, label %done, label %loop
done:
  ret void
}
