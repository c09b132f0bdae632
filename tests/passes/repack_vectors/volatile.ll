; Volatile stores stay as they are.
; RUN: repack_vectors
; EXPECT: unchanged
define void @f(ptr noalias %a, ptr noalias %b) {
  %a16 = getelementptr i8, ptr %a, i64 16
  %b16 = getelementptr i8, ptr %b, i64 16
  %x0 = load <2 x double>, ptr %a
  %x1 = load <2 x double>, ptr %a16
  %y0 = fadd <2 x double> %x0, %x0
  %y1 = fadd <2 x double> %x1, %x1
  store volatile <2 x double> %y0, ptr %b
  store volatile <2 x double> %y1, ptr %b16
  ret void
}
