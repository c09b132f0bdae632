; The loop stores, and no load may pass the store.
; RUN: hoist_indices
; EXPECT: unchanged
define double @f(ptr %col, ptr %val, ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %s1, %loop ]
  %col0 = getelementptr i64, ptr %col, i64 %i
  %c0 = load i64, ptr %col0
  %at0 = getelementptr double, ptr %x, i64 %c0
  %x0 = load double, ptr %at0
  %val0 = getelementptr double, ptr %val, i64 %i
  %v0 = load double, ptr %val0
  %p0 = fmul double %x0, %v0
  %s0 = fadd double %s, %p0
  store double %s0, ptr %val
  %i1 = or disjoint i64 %i, 1
  %col1 = getelementptr i64, ptr %col, i64 %i1
  %c1 = load i64, ptr %col1
  %at1 = getelementptr double, ptr %x, i64 %c1
  %x1 = load double, ptr %at1
  %val1 = getelementptr double, ptr %val, i64 %i1
  %v1 = load double, ptr %val1
  %p1 = fmul double %x1, %v1
  %s1 = fadd double %s0, %p1
  %next = add i64 %i, 2
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret double %s1
}
