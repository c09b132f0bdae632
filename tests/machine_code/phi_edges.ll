; Values of a block with two predecessors are stored at the end of each.
; RUN: inspect --baseline f
; CHECK: add rbx, [rsi+8]
; CHECK: mov [rsi+8], rbx
; CHECK-NEXT: jmp L1
; CHECK: sub rbx, [rsi+8]
; CHECK-NEXT: mov [rsi], rbx
; CHECK: L1:
; CHECK: imul rbx, [rsi]

define i64 @f(i64 %a, i64 %b) {
entry:
  %less = icmp slt i64 %a, %b
  br i1 %less, label %left, label %right
left:
  %sum = add i64 %a, %b
  br label %join
right:
  %difference = sub i64 %a, %b
  br label %join
join:
  %x = phi i64 [ %sum, %left ], [ %b, %right ]
  %y = phi i64 [ %a, %left ], [ %difference, %right ]
  %result = mul i64 %x, %y
  ret i64 %result
}
