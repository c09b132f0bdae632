; A load that has one use is an operand in memory.
; RUN: inspect --baseline f
; CHECK: vaddsd xmm2, xmm0, [rdi+rcx*8]
; CHECK: vmulsd xmm2, xmm2, [rdi+32]

define double @f(ptr %a, ptr %b, i64 %i, double %s) {
  %p = getelementptr double, ptr %a, i64 %i
  %x = load double, ptr %p
  %sum = fadd double %s, %x
  %q = getelementptr double, ptr %b, i64 4
  %y = load double, ptr %q
  %product = fmul double %sum, %y
  ret double %product
}
