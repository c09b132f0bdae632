; A choice is a conditional move; a maximum is one, too.
; RUN: inspect --baseline f
; CHECK: cmovl rax, [rsi+16]
; CHECK: cmovg rax, rcx
; CHECK-NOT: L0

declare i64 @llvm.smax.i64(i64, i64)
define i64 @f(i64 %a, i64 %b, i64 %c) {
  %less = icmp slt i64 %a, %b
  %chosen = select i1 %less, i64 %c, i64 %a
  %most = call i64 @llvm.smax.i64(i64 %chosen, i64 %b)
  ret i64 %most
}
