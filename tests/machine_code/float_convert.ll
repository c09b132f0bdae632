; Conversions clear their destination first, which it would depend on otherwise.
; RUN: inspect --baseline f
; CHECK: vxorps xmm1, xmm1, xmm1
; CHECK-NEXT: vcvtsi2sd xmm2, xmm1, dword ptr [rsi]
; CHECK: vcvtss2sd
; CHECK: vcvttsd2si ebx, xmm2

define i32 @f(i32 %a, float %b, i64 %c) {
  %x = sitofp i32 %a to double
  %y = fpext float %b to double
  %z = sitofp i64 %c to double
  %sum = fadd double %x, %y
  %all = fadd double %sum, %z
  %result = fptosi double %all to i32
  ret i32 %result
}
