; Memory is written before the barrier.
; RUN: nvptx_leading_barriers
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p) {
  store i32 1, ptr %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 2, ptr %p
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
