; The result of a comparison that is a value is extended to a whole register.
; RUN: inspect --baseline f
; CHECK: setb bl
; CHECK-NEXT: movzx ebx, bl

define i32 @f(i32 %a, i32 %b) {
  %less = icmp ult i32 %a, %b
  %number = zext i1 %less to i32
  ret i32 %number
}
