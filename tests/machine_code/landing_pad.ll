; A landing pad is entered through word 0 only, so its slots are in memory.
; RUN: inspect --baseline f
; CHECK: mov [rsi+32], rbx
; CHECK: mov rcx, function callee
; CHECK: word 0 of 112:
; CHECK: store64
; CHECK-NEXT: mov rdi, [rsi+56]
; CHECK-NEXT: mov rax, [rsi+32]
; CHECK: handler of resume
; CHECK: word 0 of 144:

declare i32 @__gxx_personality_v0(...)
define void @callee(i64 %a) {
  ret void
}
define i64 @f(i64 %a, i64 %b) personality ptr @__gxx_personality_v0 {
  %sum = add i64 %a, %b
  invoke void @callee(i64 %sum) to label %done unwind label %pad
done:
  ret i64 %sum
pad:
  %caught = landingpad { ptr, i32 } cleanup
  store volatile i64 %sum, ptr null
  resume { ptr, i32 } %caught
}
