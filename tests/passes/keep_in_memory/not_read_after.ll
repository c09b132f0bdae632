; No element is read, so the loop carries none.
; RUN: keep_in_memory
; EXPECT: unchanged
define double @f(ptr %p, i64 %n) {
entry:
  %best = alloca [16 x double]
  %e0 = getelementptr double, ptr %best, i64 0
  %e1 = getelementptr double, ptr %best, i64 1
  %e2 = getelementptr double, ptr %best, i64 2
  %e3 = getelementptr double, ptr %best, i64 3
  %e4 = getelementptr double, ptr %best, i64 4
  %e5 = getelementptr double, ptr %best, i64 5
  %e6 = getelementptr double, ptr %best, i64 6
  %e7 = getelementptr double, ptr %best, i64 7
  %e8 = getelementptr double, ptr %best, i64 8
  %e9 = getelementptr double, ptr %best, i64 9
  %e10 = getelementptr double, ptr %best, i64 10
  %e11 = getelementptr double, ptr %best, i64 11
  %e12 = getelementptr double, ptr %best, i64 12
  %e13 = getelementptr double, ptr %best, i64 13
  %e14 = getelementptr double, ptr %best, i64 14
  %e15 = getelementptr double, ptr %best, i64 15
  store double 0.0, ptr %e0
  store double 0.0, ptr %e1
  store double 0.0, ptr %e2
  store double 0.0, ptr %e3
  store double 0.0, ptr %e4
  store double 0.0, ptr %e5
  store double 0.0, ptr %e6
  store double 0.0, ptr %e7
  store double 0.0, ptr %e8
  store double 0.0, ptr %e9
  store double 0.0, ptr %e10
  store double 0.0, ptr %e11
  store double 0.0, ptr %e12
  store double 0.0, ptr %e13
  store double 0.0, ptr %e14
  store double 0.0, ptr %e15
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %at
  %better = fcmp ogt double %x, 1.0
  br i1 %better, label %then, label %latch
then:
  store double %x, ptr %e0
  store double %x, ptr %e1
  store double %x, ptr %e2
  store double %x, ptr %e3
  store double %x, ptr %e4
  store double %x, ptr %e5
  store double %x, ptr %e6
  store double %x, ptr %e7
  store double %x, ptr %e8
  store double %x, ptr %e9
  store double %x, ptr %e10
  store double %x, ptr %e11
  store double %x, ptr %e12
  store double %x, ptr %e13
  store double %x, ptr %e14
  store double %x, ptr %e15
  br label %latch
latch:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret double %x
}
