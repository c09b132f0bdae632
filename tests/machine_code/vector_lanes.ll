; Comparisons of lanes become bytes, selections widen them again, and lanes are shifted by lanes.
; RUN: inspect --baseline f
; CHECK: vcmpltpd xmm0, xmm
; CHECK-NEXT: vshufps xmm0, xmm0, xmm0, -120
; CHECK-NEXT: vpackssdw xmm0, xmm0, xmm0
; CHECK-NEXT: vpacksswb xmm0, xmm0, xmm0
; CHECK-NEXT: vpabsb xmm
; CHECK: vpmovzxbq xmm1, xmm
; CHECK-NEXT: vpsllq xmm1, xmm1, 63
; CHECK-NEXT: vblendvpd xmm
; CHECK: vpcmpgtd xmm
; CHECK: vpsubb xmm
; CHECK: vpmovzxbd xmm1, xmm
; CHECK: vblendvps xmm
; CHECK-NEXT: vpsrldq xmm1, xmm
; CHECK: vblendvps xmm
; CHECK: vpsrlvd xmm

define void @f(ptr %p, ptr %q) {
  %a = load <2 x double>, ptr %p, align 8
  %b = load <2 x double>, ptr %q, align 8
  %less = fcmp olt <2 x double> %a, %b
  %least = select <2 x i1> %less, <2 x double> %a, <2 x double> %b
  store <2 x double> %least, ptr %p, align 8
  %r = getelementptr i8, ptr %p, i64 64
  %c = load <8 x i32>, ptr %r, align 4
  %s = getelementptr i8, ptr %q, i64 64
  %d = load <8 x i32>, ptr %s, align 4
  %not = icmp sle <8 x i32> %c, %d
  %either = select <8 x i1> %not, <8 x i32> %d, <8 x i32> %c
  %shifted = lshr <8 x i32> %either, %c
  store <8 x i32> %shifted, ptr %r, align 4
  ret void
}
