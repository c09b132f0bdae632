; Two values that a loop exchanges pass through a third register, on the edge that repeats it.
; RUN: inspect --baseline f
; CHECK: jne L2
; CHECK: L2:
; CHECK: mov rbx, r14
; CHECK: mov r14, r13
; CHECK: mov r13, rbx
; CHECK-NEXT: jmp L0

define i64 @f(i64 %a, i64 %b, i64 %n) {
entry:
  br label %loop
loop:
  %x = phi i64 [ %a, %entry ], [ %y, %loop ]
  %y = phi i64 [ %b, %entry ], [ %x, %loop ]
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %next = add i64 %i, 1
  %again = icmp ne i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  %twice = shl i64 %x, 1
  %result = sub i64 %twice, %y
  ret i64 %result
}
