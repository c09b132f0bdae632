; A square root becomes branches as well.
; RUN: nvptx_hoist_loads
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
define double @k(ptr %p, ptr %q, double %a, double %b, i64 %i) {
  %d = call double @llvm.sqrt.f64(double %a)
  %x = load double, ptr %p
  %s = fadd double %d, %x
  ret double %s
}
declare double @llvm.sqrt.f64(double)
