; Results of 8 and 16 bits are extended with zeros, which is the form of a slot.
; RUN: inspect --baseline f
; CHECK: add8
; CHECK: movzx ebx, bl
; CHECK: mul16
; CHECK: movzx r8d, r8w
; CHECK: sext8_32
; CHECK-NEXT: movsx ebx, bl

define i32 @f(i8 %a, i16 %b) {
  %sum = add i8 %a, 3
  %wide = sext i8 %sum to i32
  %short = mul i16 %b, %b
  %zero = zext i16 %short to i32
  %result = add i32 %wide, %zero
  ret i32 %result
}
