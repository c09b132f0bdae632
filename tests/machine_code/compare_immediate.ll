; Comparisons with constants read memory directly; a mask that is compared with zero is a test.
; RUN: inspect --baseline f
; CHECK: cmp qword ptr [rsi], 0
; CHECK-NEXT: je L0
; CHECK: test qword ptr [rsi+8], 64
; CHECK-NEXT: jne L0

define i32 @f(i32 %a, i64 %b) {
  %zero = icmp eq i32 %a, 0
  br i1 %zero, label %done, label %more
more:
  %bit = and i64 %b, 64
  %set = icmp ne i64 %bit, 0
  br i1 %set, label %done, label %other
other:
  ret i32 2
done:
  ret i32 1
}
