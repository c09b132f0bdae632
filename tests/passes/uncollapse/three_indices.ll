; Three indices are two divisions, the second of the first one's remainder: two loops around.
; RUN: uncollapse
; EXPECT: changed
define void @f(ptr %x, i64 %to, i64 %n, i64 %plane) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %h = sdiv i64 %k, %plane
  %left = srem i64 %k, %plane
  %i = sdiv i64 %left, %n
  %j = srem i64 %left, %n
  %a = mul i64 %h, 10000
  %b = mul i64 %i, 100
  %c = add i64 %a, %b
  %index = add i64 %c, %j
  %at = getelementptr double, ptr %x, i64 %index
  store double 1.0, ptr %at
  %next = add nsw i64 %k, 1
  %end = icmp eq i64 %k, %to
  br i1 %end, label %done, label %loop
done:
  ret void
}
