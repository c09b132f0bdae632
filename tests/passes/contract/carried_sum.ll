; A sum that the loop carries keeps two operations; the product that goes into it has none to carry.
; RUN: contract
; EXPECT: changed
define double @f(ptr %p, double %a, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %at
  %y = call double @llvm.fmuladd.f64(double %x, double %x, double %a)
  %t = call double @llvm.fmuladd.f64(double %y, double %a, double %s)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret double %t
}
declare double @llvm.fmuladd.f64(double, double, double)
