; Vectors of bits are not contiguous in memory.
; RUN: repack_vectors
; EXPECT: unchanged
define void @f(ptr noalias %a, ptr noalias %b) {
  %a16 = getelementptr i8, ptr %a, i64 16
  %b16 = getelementptr i8, ptr %b, i64 16
  %x0 = load <128 x i1>, ptr %a
  %x1 = load <128 x i1>, ptr %a16
  %y0 = xor <128 x i1> %x0, %x0
  %y1 = xor <128 x i1> %x1, %x1
  store <128 x i1> %y0, ptr %b
  store <128 x i1> %y1, ptr %b16
  ret void
}
