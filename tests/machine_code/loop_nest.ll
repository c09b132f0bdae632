; The inner loop alone has pinned slots: they are loaded where the outer loop enters it, and stored
; where it leaves. Both loops test their flags.
; RUN: inspect --baseline f
; CHECK: mov rax, flag of 80
; CHECK: mov r15, [rsi+56]
; CHECK: mov r11, [rsi]
; CHECK: mov rax, flag of 104
; CHECK: add r15, 1
; CHECK-NEXT: cmp r15, r12
; CHECK-NEXT: jb L1
; CHECK-NEXT: mov [rsi+48], r14
; CHECK: mov [rsi+40], rbx
; CHECK: jb L0

define i64 @f(ptr %a, i64 %n, i64 %m) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %total = phi i64 [ 0, %entry ], [ %inner.sum, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %sum = phi i64 [ %total, %outer ], [ %inner.sum, %inner ]
  %k = xor i64 %i, %j
  %p = getelementptr i64, ptr %a, i64 %k
  %value = load i64, ptr %p
  %inner.sum = add i64 %sum, %value
  %j.next = add i64 %j, 1
  %inner.again = icmp ult i64 %j.next, %m
  br i1 %inner.again, label %inner, label %latch
latch:
  %i.next = add i64 %i, 1
  %again = icmp ult i64 %i.next, %n
  br i1 %again, label %outer, label %done
done:
  ret i64 %inner.sum
}
