; A recurrence through the product (Horner's scheme) waits for the multiplication anyway.
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
  %t = call double @llvm.fmuladd.f64(double %s, double %a, double %x)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret double %t
}
declare double @llvm.fmuladd.f64(double, double, double)
