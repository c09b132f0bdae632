; Registers of 256 bits have no room for a pair of 256-bit vectors.
; RUN: repack_vectors
; EXPECT: unchanged
define void @f(ptr noalias %a, ptr noalias %b) {
  %a32 = getelementptr i8, ptr %a, i64 32
  %b32 = getelementptr i8, ptr %b, i64 32
  %x0 = load <4 x double>, ptr %a
  %x1 = load <4 x double>, ptr %a32
  %y0 = fadd <4 x double> %x0, %x0
  %y1 = fadd <4 x double> %x1, %x1
  store <4 x double> %y0, ptr %b
  store <4 x double> %y1, ptr %b32
  ret void
}
