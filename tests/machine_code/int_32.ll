; Operations on 32 bits need no extension: they clear the upper half.
; RUN: inspect --baseline f
; CHECK: lea r9d, [rbx+r8]
; CHECK: imul r8d, r9d
; CHECK: add r8d, -7
; CHECK-NOT: movzx r

define i32 @f(i32 %a, i32 %b) {
  %sum = add i32 %a, %b
  %product = mul i32 %sum, %b
  %less = sub i32 %product, 7
  %result = add i32 %less, %a
  ret i32 %result
}
