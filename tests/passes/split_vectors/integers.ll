; Vectors of integers alone are left to LLVM.
; RUN: split_vectors
; EXPECT: unchanged
define void @f(ptr %a) {
  %x = load <4 x i64>, ptr %a
  %s = add <4 x i64> %x, %x
  store <4 x i64> %s, ptr %a
  ret void
}
