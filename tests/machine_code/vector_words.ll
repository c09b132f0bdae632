; Longer vectors are computed in parts of 128 bits, which stay in registers.
; RUN: inspect --baseline f
; CHECK: vpaddd xmm2, xmm2, xmm4
; CHECK-NEXT: vpaddd xmm3, xmm3, xmm5
; CHECK: vpmulld xmm2, xmm2, xmm4
; CHECK-NEXT: vpmulld xmm3, xmm3, xmm5
; CHECK: vmovups [rbx+16], xmm3

define void @f(ptr %p, ptr %q) {
  %a = load <8 x i32>, ptr %p, align 4
  %b = load <8 x i32>, ptr %q, align 4
  %sum = add <8 x i32> %a, %b
  %product = mul <8 x i32> %sum, %b
  store <8 x i32> %product, ptr %p, align 4
  ret void
}
