; A product and a sum without permission round twice.
; RUN: contract
; EXPECT: unchanged
define double @f(double %a, double %b, double %c) {
  %p = fmul double %a, %b
  %r = fadd double %p, %c
  ret double %r
}
