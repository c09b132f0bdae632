; Values pass from one operation to the next in registers. A sum whose operands are needed again
; is a `lea`; nothing is stored.
; RUN: inspect --baseline f
; CHECK: lea r9, [rbx+r8]
; CHECK: imul r11, r10
; CHECK: and rbx, r8
; CHECK: or rbx, r10
; CHECK: xor rbx, r9
; CHECK-NOT: mov [rsi+

define i64 @f(i64 %a, i64 %b, i64 %c) {
  %sum = add i64 %a, %b
  %product = mul i64 %sum, %c
  %difference = sub i64 %product, %a
  %masked = and i64 %difference, %b
  %either = or i64 %masked, %c
  %result = xor i64 %either, %sum
  ret i64 %result
}
