; Only calls with permissions that change results are replaced, and they keep the others.
; RUN: contract
; EXPECT: changed
define float @f(float %a, float %b, float %c) {
  %some = tail call nnan contract float @llvm.fmuladd.f32(float %a, float %b, float %c)
  %none = tail call nnan float @llvm.fmuladd.f32(float %some, float %b, float %c)
  %all = tail call fast float @llvm.fmuladd.f32(float %none, float %b, float %some)
  ret float %all
}
declare float @llvm.fmuladd.f32(float, float, float)
