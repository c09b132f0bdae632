; A product and a sum round twice, as on the guest's own target.
; RUN: rewire
; EXPECT: changed
define double @f(double %a, double %b, double %c) {
  %r = call double @llvm.fmuladd.f64(double %a, double %b, double %c)
  ret double %r
}
declare double @llvm.fmuladd.f64(double, double, double)
