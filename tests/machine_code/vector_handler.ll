; A vector operation without a template is left to its handler: its operands are stored before it,
; and its result is loaded after it.
; RUN: inspect --baseline f
; CHECK: vmovups [rsi+32], xmm2
; CHECK-NEXT: vmovups [rsi+48], xmm3
; CHECK-NEXT: mov rdi, bytecode+64
; CHECK-NEXT: mov rax, handler of vshl16
; CHECK: vmovups xmm0, [rsi+64]
; CHECK-NEXT: vmovups xmm1, [rsi+48]
; CHECK-NEXT: vpaddw xmm2, xmm0, xmm1

define void @f(ptr %p, ptr %q) {
  %a = load <8 x i16>, ptr %p, align 2
  %b = load <8 x i16>, ptr %q, align 2
  %shifted = shl <8 x i16> %a, %b
  %sum = add <8 x i16> %shifted, %b
  store <8 x i16> %sum, ptr %p, align 2
  ret void
}
