; A vector operation without a template is left to its handler: its operands are stored before it,
; and its result is loaded after it.
; RUN: inspect --baseline f
; CHECK: vmovups [rsi+32], xmm2
; CHECK-NEXT: vmovups [rsi+48], xmm3
; CHECK-NEXT: mov rdi, bytecode+64
; CHECK-NEXT: mov rax, handler of vshl32
; CHECK: vmovups xmm0, [rsi+64]
; CHECK-NEXT: vpaddd xmm2, xmm0, [rsi+48]

define void @f(ptr %p, ptr %q) {
  %a = load <4 x i32>, ptr %p, align 4
  %b = load <4 x i32>, ptr %q, align 4
  %shifted = shl <4 x i32> %a, %b
  %sum = add <4 x i32> %shifted, %b
  store <4 x i32> %sum, ptr %p, align 4
  ret void
}
