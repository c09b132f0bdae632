; A call through a pointer is left to its handler. A slot that is read after the call is stored
; before it.
; RUN: inspect --baseline f
; CHECK: mov [rsi+32], rbx
; CHECK-NEXT: mov rdi, bytecode+48
; CHECK-NEXT: mov rax, handler of call_ptr
; CHECK-NEXT: jmp rax
; CHECK: add rbx, [rsi+32]

define i64 @f(ptr %callee, i64 %a) {
  %before = add i64 %a, 1
  %result = call i64 %callee(i64 %before)
  %after = add i64 %result, %before
  ret i64 %after
}
