; A value that only its own block reads stays in its register; one that a later block reads is
; stored at the end of the block.
; RUN: inspect --baseline f
; CHECK: imul r9, r8
; CHECK: mov [rsi+48], r9
; CHECK-NEXT: cmp rbx, r8
; CHECK-NOT: mov [rsi+40]

define void @f(i64 %a, i64 %b, ptr %p) {
entry:
  %sum = add i64 %a, %b
  %product = mul i64 %sum, %b
  store i64 %product, ptr %p
  %less = icmp slt i64 %a, %b
  br i1 %less, label %then, label %done
then:
  %q = getelementptr i64, ptr %p, i64 1
  store i64 %product, ptr %q
  br label %done
done:
  ret void
}
