; The loop rounds, but carries integers alone.
; RUN: disable_unrolling
; EXPECT: unchanged
define i64 @f(i64 %a, i64 %n, double %c) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ 0, %entry ], [ %t, %loop ]
  %t = add i64 %s, %a
  %r = fptosi double %c to i64
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret i64 %r
}
