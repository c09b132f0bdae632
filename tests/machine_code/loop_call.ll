; A loop with a call in it stores its pinned slots before the call, and its second entry, behind
; the call, loads them.
; RUN: inspect --baseline f
; CHECK: mov [rsi+24], r15
; CHECK-NEXT: mov rdi, bytecode+96
; CHECK-NEXT: mov rax, handler of native
; CHECK: add r15, 1
; CHECK: jl L0
; CHECK: word 0 of 136:
; CHECK: mov r15, [rsi+24]
; CHECK-NEXT: jmp L2

declare i64 @labs(i64)
define i64 @f(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more, %loop ]
  %low = sub i64 %i, 5
  %size = call i64 @labs(i64 %low)
  %more = add i64 %sum, %size
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret i64 %more
}
