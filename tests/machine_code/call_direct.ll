; A call of a guest function writes its frame in place. The handler performs it if the callee has
; no bytecode yet or the stack has too little room.
; RUN: inspect --baseline f
; CHECK: mov rcx, function callee
; CHECK: test rcx, rcx
; CHECK-NEXT: je L0
; CHECK: cmp rdi, [rdx+8]
; CHECK-NEXT: jb L0
; CHECK: mov [rdi], r8
; CHECK-NEXT: mov [rdi+8], rbx
; CHECK: jmp qword ptr [rdi]
; CHECK: word 0 of 80:
; CHECK: L0:
; CHECK: handler of call4

define i64 @callee(i64 %a, i64 %b) {
  %sum = add i64 %a, %b
  ret i64 %sum
}
define i64 @f(i64 %a) {
  %twice = shl i64 %a, 1
  %result = call i64 @callee(i64 %twice, i64 %a)
  %more = add i64 %result, %twice
  ret i64 %more
}
