; A load after a division does not depend on it.
; RUN: nvptx_hoist_loads
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
define double @k(ptr %p, ptr %q, double %a, double %b, i64 %i) {
  %d = fdiv double %a, %b
  %at = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %at
  %s = fadd double %d, %x
  ret double %s
}
