; Permissions to change a result are removed; those that promise something about operands stay.
; RUN: rewire
; EXPECT: changed
define double @f(double %a, double %b) {
  %r = fadd fast double %a, %b
  %s = fmul nnan ninf contract double %r, %b
  ret double %s
}
