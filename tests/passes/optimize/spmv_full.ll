; A row of a sparse matrix in the whole pipeline; its indices are loaded early.
; RUN: optimize
; EXPECT: changed
define double @f(ptr noalias %col, ptr noalias %val, ptr noalias %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %s0, %loop ]
  %col0 = getelementptr i64, ptr %col, i64 %i
  %c0 = load i64, ptr %col0
  %at0 = getelementptr double, ptr %x, i64 %c0
  %x0 = load double, ptr %at0
  %val0 = getelementptr double, ptr %val, i64 %i
  %v0 = load double, ptr %val0
  %p0 = fmul double %x0, %v0
  %s0 = fadd double %s, %p0
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 1024
  br i1 %more, label %loop, label %end
end:
  ret double %s0
}
