; The stores are in two blocks; nothing is packed across blocks.
; RUN: repack_vectors
; EXPECT: unchanged
define void @f(ptr noalias %a, ptr noalias %b, i1 %c) {
  %b16 = getelementptr i8, ptr %b, i64 16
  %x = load <2 x double>, ptr %a
  store <2 x double> %x, ptr %b
  br i1 %c, label %more, label %end
more:
  store <2 x double> %x, ptr %b16
  br label %end
end:
  ret void
}
