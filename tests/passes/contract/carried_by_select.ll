; The sum flows back through a selection and a negation. The declaration of llvm.fma is there.
; RUN: contract
; EXPECT: unchanged
define double @f(ptr %p, double %a, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %u, %loop ]
  %at = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %at
  %t = call double @llvm.fmuladd.f64(double %x, double %a, double %s)
  %m = fneg double %t
  %odd = trunc i64 %i to i1
  %u = select i1 %odd, double %m, double %s
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret double %u
}
declare double @llvm.fmuladd.f64(double, double, double)
declare double @llvm.fma.f64(double, double, double)
