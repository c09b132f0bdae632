; Without a known alignment the stores are bytes.
; RUN: nvptx_zeros
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
define void @k(ptr %p, i64 %n, i8 %v) {
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 4, i1 false)
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
