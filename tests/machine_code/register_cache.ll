; With more values than registers one is stored, and read from memory where it is used.
; RUN: inspect --baseline f
; CHECK: mov r15, [rbx+56]
; CHECK: mov [rsi+24], r8
; CHECK-NEXT: mov r8, [rbx+64]
; CHECK: imul rbx, [rsi+24]
; CHECK: imul r8, r9

define i64 @f(ptr %p) {
  %p1 = getelementptr i64, ptr %p, i64 1
  %p2 = getelementptr i64, ptr %p, i64 2
  %p3 = getelementptr i64, ptr %p, i64 3
  %p4 = getelementptr i64, ptr %p, i64 4
  %p5 = getelementptr i64, ptr %p, i64 5
  %p6 = getelementptr i64, ptr %p, i64 6
  %p7 = getelementptr i64, ptr %p, i64 7
  %p8 = getelementptr i64, ptr %p, i64 8
  %p9 = getelementptr i64, ptr %p, i64 9
  %a0 = load volatile i64, ptr %p
  %a1 = load volatile i64, ptr %p1
  %a2 = load volatile i64, ptr %p2
  %a3 = load volatile i64, ptr %p3
  %a4 = load volatile i64, ptr %p4
  %a5 = load volatile i64, ptr %p5
  %a6 = load volatile i64, ptr %p6
  %a7 = load volatile i64, ptr %p7
  %a8 = load volatile i64, ptr %p8
  %a9 = load volatile i64, ptr %p9
  %b0 = mul i64 %a0, %a9
  %b1 = mul i64 %a1, %a8
  %b2 = mul i64 %a2, %a7
  %b3 = mul i64 %a3, %a6
  %b4 = mul i64 %a4, %a5
  %c0 = add i64 %b0, %b1
  %c1 = add i64 %b2, %b3
  %c2 = add i64 %c0, %c1
  %c3 = add i64 %c2, %b4
  ret i64 %c3
}
