; The address depends on the quotient.
; RUN: nvptx_hoist_loads
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define double @k(ptr %p, ptr %q, double %a, double %b, i64 %i) {
  %d = fdiv double %a, %b
  %n = fptosi double %d to i64
  %at = getelementptr double, ptr %p, i64 %n
  %x = load double, ptr %at
  ret double %x
}
