; The length is no multiple of the alignment.
; RUN: nvptx_zeros
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define void @k(ptr %p, i64 %n, i8 %v) {
  call void @llvm.memset.p0.i64(ptr align 8 %p, i8 0, i64 20, i1 false)
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
