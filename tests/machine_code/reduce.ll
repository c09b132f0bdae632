; Lanes are reduced in registers: pairs of words, then the halves of a pair, then those of a word. Lanes
; that do not fill their last word are left to the handler.
; RUN: inspect --baseline f
; CHECK: vpaddd xmm0, xmm2, xmm3
; CHECK-NEXT: vpshufd xmm1, xmm0, -18
; CHECK-NEXT: vpaddd xmm0, xmm0, xmm1
; CHECK-NEXT: vpshufd xmm1, xmm0, 85
; CHECK-NEXT: vpaddd xmm0, xmm0, xmm1
; CHECK-NEXT: vmovq rax, xmm0
; CHECK: handler of red_umax32

define i32 @f(ptr %p, ptr %q) {
  %a = load <8 x i32>, ptr %p, align 4
  %sum = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %a)
  %b = load <3 x i32>, ptr %q, align 4
  %most = call i32 @llvm.vector.reduce.umax.v3i32(<3 x i32> %b)
  %r = add i32 %sum, %most
  ret i32 %r
}
