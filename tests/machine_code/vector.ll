; Vectors of 128 bits are computed whole, with unaligned operands in memory. A result of several
; words is returned by the handler.
; RUN: inspect --baseline f
; CHECK: vaddpd xmm2, xmm0, [rbx]
; CHECK: vmulpd xmm2, xmm2, [rsi+16]
; CHECK: vmovups [rbx], xmm2
; CHECK: handler of retn

define <2 x double> @f(<2 x double> %a, <2 x double> %b, ptr %p) {
  %v = load <2 x double>, ptr %p, align 8
  %sum = fadd <2 x double> %a, %v
  %product = fmul <2 x double> %sum, %b
  store <2 x double> %product, ptr %p, align 8
  ret <2 x double> %product
}
