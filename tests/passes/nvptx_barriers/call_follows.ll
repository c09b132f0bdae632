; An unknown function may use memory.
; RUN: nvptx_barriers
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k() {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @g()
  ret void
}
declare void @g()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
