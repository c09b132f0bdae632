; A comparison and its branch are one comparison and one jump, with operands in memory.
; RUN: inspect --baseline f
; CHECK: cmp rax, [rsi+8]
; CHECK-NEXT: jge L0
; CHECK-NOT: setl

define i64 @f(i64 %a, i64 %b) {
  %less = icmp slt i64 %a, %b
  br i1 %less, label %then, label %else
then:
  %sum = add i64 %a, 1
  ret i64 %sum
else:
  %difference = sub i64 %b, 1
  ret i64 %difference
}
