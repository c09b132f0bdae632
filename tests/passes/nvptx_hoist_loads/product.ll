; A product is a plain instruction.
; RUN: nvptx_hoist_loads
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define double @k(ptr %p, ptr %q, double %a, double %b, i64 %i) {
  %d = fmul double %a, %b
  %x = load double, ptr %p
  %s = fadd double %d, %x
  ret double %s
}
