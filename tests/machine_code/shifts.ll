; A variable distance is in cl; a constant one is immediate. A shift of 32 bits clears the upper
; half.
; RUN: inspect --baseline f
; CHECK: mov ecx, [rsi+8]
; CHECK: shl rax, cl
; CHECK: sar rbx, 3
; CHECK: shr r8d, 5
; CHECK: add rbx, r8

define i64 @f(i64 %a, i64 %n, i32 %b) {
  %left = shl i64 %a, %n
  %right = ashr i64 %left, 3
  %narrow = lshr i32 %b, 5
  %wide = zext i32 %narrow to i64
  %result = add i64 %right, %wide
  ret i64 %result
}
