; Constants of 32 bits are immediate; longer ones are constants of the frame.
; RUN: inspect --baseline f
; CHECK: mov rax, 81985529216486895
; CHECK-NEXT: mov [rsi+40], rax
; CHECK: add rbx, 100
; CHECK: and rbx, -4096
; CHECK: xor rbx, [rsi+40]
; CHECK: imul rbx, 24
; CHECK: neg rbx
; CHECK-NEXT: add rbx, 1000

define i64 @f(i64 %a) {
  %small = add i64 %a, 100
  %negative = and i64 %small, -4096
  %large = xor i64 %negative, 81985529216486895
  %scaled = mul i64 %large, 24
  %rest = sub i64 1000, %scaled
  ret i64 %rest
}
