; Operands of "less" are swapped, so that a NaN fails the condition without a test of its own;
; "equal" tests parity first.
; RUN: inspect --baseline f
; CHECK: vmovsd xmm0, [rsi+8]
; CHECK-NEXT: vucomisd xmm0, [rsi]
; CHECK-NEXT: jbe L0
; CHECK: vucomiss
; CHECK-NEXT: jp L2
; CHECK-NEXT: je L1
; CHECK: setp al

define i32 @f(double %a, double %b, float %c) {
  %less = fcmp olt double %a, %b
  br i1 %less, label %then, label %else
then:
  %same = fcmp oeq float %c, 1.0
  br i1 %same, label %one, label %two
else:
  %unordered = fcmp uno double %a, %b
  %number = zext i1 %unordered to i32
  ret i32 %number
one:
  ret i32 1
two:
  ret i32 2
}
