; Arithmetic on doubles stays in vector registers. A product and a sum are rounded apart.
; RUN: inspect --baseline f
; CHECK: vaddsd
; CHECK: vmulsd
; CHECK: vdivsd
; CHECK: muladd64
; CHECK-NEXT: vmulsd
; CHECK-NEXT: vaddsd
; CHECK: vxorps
; CHECK: vsqrtsd
; CHECK-NOT: vfmadd

declare double @llvm.fmuladd.f64(double, double, double)
declare double @llvm.sqrt.f64(double)
define double @f(double %a, double %b, double %c) {
  %sum = fadd double %a, %b
  %product = fmul double %sum, %c
  %quotient = fdiv double %product, %b
  %fused = call double @llvm.fmuladd.f64(double %quotient, double %a, double %c)
  %negative = fneg double %fused
  %root = call double @llvm.sqrt.f64(double %negative)
  ret double %root
}
