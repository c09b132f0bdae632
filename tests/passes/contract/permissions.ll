; The fused operation loses the permissions that would let a pass change its result.
; RUN: contract
; EXPECT: changed
define <2 x float> @f(<2 x float> %a, <2 x float> %b, <2 x float> %c) {
  %r = call fast <2 x float> @llvm.fmuladd.v2f32(<2 x float> %a, <2 x float> %b, <2 x float> %c)
  ret <2 x float> %r
}
declare <2 x float> @llvm.fmuladd.v2f32(<2 x float>, <2 x float>, <2 x float>)
