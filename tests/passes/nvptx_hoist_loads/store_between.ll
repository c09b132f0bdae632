; The load may read what the store writes.
; RUN: nvptx_hoist_loads
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define double @k(ptr %p, ptr %q, double %a, double %b, i64 %i) {
  %d = fdiv double %a, %b
  store double %d, ptr %q
  %x = load double, ptr %p
  ret double %x
}
