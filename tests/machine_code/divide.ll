; Divisions are done in place. The handler reports a divisor of zero and a quotient that does not
; fit.
; RUN: inspect --baseline f
; CHECK: test rbx, rbx
; CHECK-NEXT: je L1
; CHECK: div rbx
; CHECK: cmp rbx, -1
; CHECK: neg rdi
; CHECK-NEXT: jo L2
; CHECK: cqo
; CHECK-NEXT: idiv rbx
; CHECK: handler of udiv64
; CHECK: handler of srem64

define i64 @f(i64 %a, i64 %b) {
  %quotient = udiv i64 %a, %b
  %rest = srem i64 %quotient, %b
  ret i64 %rest
}
