; Calls of native functions are left to their handlers, those of floating-point arguments, too.
; RUN: inspect --baseline f
; CHECK: mov rax, handler of native
; CHECK: vmovsd [rsi+32], xmm2
; CHECK: mov rax, handler of native_d

declare i64 @labs(i64)
declare double @sin(double)
define double @f(i64 %a) {
  %size = call i64 @labs(i64 %a)
  %number = sitofp i64 %size to double
  %result = call double @sin(double %number)
  ret double %result
}
