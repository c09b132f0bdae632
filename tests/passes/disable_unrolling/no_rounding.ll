; The loop carries a floating-point number and rounds none.
; RUN: disable_unrolling
; EXPECT: unchanged
define i64 @f(double %a, i64 %n, double %c) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %t, %loop ]
  %t = fadd double %s, %a
  %r = add i64 %i, 3
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret i64 %r
}
