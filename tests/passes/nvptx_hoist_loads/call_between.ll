; The function may write memory.
; RUN: nvptx_hoist_loads
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define double @k(ptr %p, ptr %q, double %a, double %b, i64 %i) {
  %d = fdiv double %a, %b
  call void @g()
  %x = load double, ptr %p
  %s = fadd double %d, %x
  ret double %s
}
declare void @g()
