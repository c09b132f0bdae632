; A shuffle across the halves becomes moves of elements.
; RUN: split_vectors
; EXPECT: changed
define void @f(ptr %a) {
  %x = load <8 x float>, ptr %a
  %r = shufflevector <8 x float> %x, <8 x float> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  store <8 x float> %r, ptr %a
  ret void
}
