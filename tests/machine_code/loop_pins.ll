; A loop keeps its slots in registers. It tests in each iteration whether its head is counted or
; has become an OSR entry, and then stores the slots that it has changed.
; RUN: inspect --baseline f
; CHECK: L0:
; CHECK-NEXT: mov rax, flag of 80
; CHECK-NEXT: cmp dword ptr [rax], 0
; CHECK-NEXT: jne L2
; CHECK: mov rbx, [r12+r15*8]
; CHECK: add r15, 1
; CHECK-NEXT: cmp r15, r13
; CHECK-NEXT: jl L0
; CHECK: word 0 of 80:
; CHECK: mov r12, [rsi]
; CHECK-NEXT: jmp L1
; CHECK: L2:
; CHECK: mov [rsi+32], r15
; CHECK-NEXT: mov [rsi+40], r14
; CHECK-NEXT: mov rdi, bytecode+80
; CHECK-NEXT: jmp qword ptr [rdi]

define i64 @f(ptr %a, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %p = getelementptr i64, ptr %a, i64 %i
  %value = load i64, ptr %p
  %odd = xor i64 %value, %i
  %more = add i64 %sum, %odd
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret i64 %more
}
