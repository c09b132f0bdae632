; Two loads and two stores without arithmetic already save two instructions.
; RUN: repack_vectors
; EXPECT: changed
define void @f(ptr noalias %a, ptr noalias %b) {
  %a16 = getelementptr i8, ptr %a, i64 16
  %b16 = getelementptr i8, ptr %b, i64 16
  %y0 = load <2 x double>, ptr %a
  %y1 = load <2 x double>, ptr %a16
  store <2 x double> %y0, ptr %b
  store <2 x double> %y1, ptr %b16
  ret void
}
