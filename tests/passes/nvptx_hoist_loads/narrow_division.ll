; A division of 32 bits has no slow path.
; RUN: nvptx_hoist_loads
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define double @k(ptr %p, ptr %q, double %a, double %b, i64 %i) {
  %n = trunc i64 %i to i32
  %d = udiv i32 %n, 7
  %x = load double, ptr %p
  %w = uitofp i32 %d to double
  %s = fadd double %w, %x
  ret double %s
}
