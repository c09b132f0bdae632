; The first store may change what the second load reads.
; RUN: repack_vectors
; EXPECT: unchanged
define void @f(ptr %a, ptr %b) {
  %a16 = getelementptr i8, ptr %a, i64 16
  %b16 = getelementptr i8, ptr %b, i64 16
  %x0 = load <2 x double>, ptr %a
  %y0 = fadd <2 x double> %x0, %x0
  store <2 x double> %y0, ptr %b
  %x1 = load <2 x double>, ptr %a16
  %y1 = fadd <2 x double> %x1, %x1
  store <2 x double> %y1, ptr %b16
  ret void
}
