; A call between the stores may end the program, which would lose the first.
; RUN: repack_vectors
; EXPECT: unchanged
define void @f(ptr noalias %a, ptr noalias %b) {
  %a16 = getelementptr i8, ptr %a, i64 16
  %b16 = getelementptr i8, ptr %b, i64 16
  %x0 = load <2 x double>, ptr %a
  %x1 = load <2 x double>, ptr %a16
  %y0 = fadd <2 x double> %x0, %x0
  %y1 = fadd <2 x double> %x1, %x1
  store <2 x double> %y0, ptr %b
  call void @leave()
  store <2 x double> %y1, ptr %b16
  ret void
}
declare void @leave() memory(none)
