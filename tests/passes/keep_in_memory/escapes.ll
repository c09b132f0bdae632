; The address escapes, so LLVM keeps the array in memory anyway.
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
  call void @g(ptr %best)
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
  %v0 = load double, ptr %e0
  %v1 = load double, ptr %e1
  %v2 = load double, ptr %e2
  %v3 = load double, ptr %e3
  %v4 = load double, ptr %e4
  %v5 = load double, ptr %e5
  %v6 = load double, ptr %e6
  %v7 = load double, ptr %e7
  %v8 = load double, ptr %e8
  %v9 = load double, ptr %e9
  %v10 = load double, ptr %e10
  %v11 = load double, ptr %e11
  %v12 = load double, ptr %e12
  %v13 = load double, ptr %e13
  %v14 = load double, ptr %e14
  %v15 = load double, ptr %e15
  %s1 = fadd double %v0, %v1
  %s2 = fadd double %s1, %v2
  %s3 = fadd double %s2, %v3
  %s4 = fadd double %s3, %v4
  %s5 = fadd double %s4, %v5
  %s6 = fadd double %s5, %v6
  %s7 = fadd double %s6, %v7
  %s8 = fadd double %s7, %v8
  %s9 = fadd double %s8, %v9
  %s10 = fadd double %s9, %v10
  %s11 = fadd double %s10, %v11
  %s12 = fadd double %s11, %v12
  %s13 = fadd double %s12, %v13
  %s14 = fadd double %s13, %v14
  %s15 = fadd double %s14, %v15
  ret double %s15
}
declare void @g(ptr)
