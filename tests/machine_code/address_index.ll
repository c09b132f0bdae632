; An index of 64 bits is part of the address; one of 32 bits is extended, and a factor that no
; address has is multiplied.
; RUN: inspect --baseline f
; CHECK: shl rbx, 32
; CHECK-NEXT: sar rbx, 32
; CHECK: vmovsd xmm0, [rdi+rcx*8]
; CHECK: imul rcx, rbx, 24
; CHECK-NEXT: vaddsd xmm2, xmm0, [rdi+rcx+8]

define double @f(ptr %a, i64 %i, i32 %j) {
  %p = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %p
  %wide = sext i32 %j to i64
  %q = getelementptr inbounds [3 x double], ptr %a, i64 %wide, i64 1
  %y = load double, ptr %q
  %sum = fadd double %x, %y
  ret double %sum
}
