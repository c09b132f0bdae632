; A call with one argument adds the constant to it as it passes it.
; RUN: inspect --baseline f
; CHECK: call1
; CHECK: mov rax, [rsi]
; CHECK-NEXT: add rax, -1
; CHECK-NEXT: mov [rdi], rax
; CHECK-NOT: addi64

define i64 @callee(i64 %a) {
  ret i64 %a
}
define i64 @f(i64 %a) {
  %less = add i64 %a, -1
  %result = call i64 @callee(i64 %less)
  ret i64 %result
}
