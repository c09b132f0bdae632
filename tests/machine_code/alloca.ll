; An alloca of fixed size is a part of the frame: it is addressed from the frame, and its address
; is a `lea`.
; RUN: inspect --baseline f
; CHECK: mov [rsi+48], rax
; CHECK: mov [rsi+56], rax
; CHECK: lea rbx, [rsi+48]
; CHECK-NOT: handler of alloca

define i64 @callee(ptr %p) {
  %v = load i64, ptr %p
  ret i64 %v
}
define i64 @f(i64 %a) {
  %local = alloca [2 x i64]
  store i64 %a, ptr %local
  %second = getelementptr i64, ptr %local, i64 1
  store i64 7, ptr %second
  %result = call i64 @callee(ptr %local)
  ret i64 %result
}
