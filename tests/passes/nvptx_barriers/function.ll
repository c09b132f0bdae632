; A function may be followed by anything in its caller.
; RUN: nvptx_barriers
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define void @k(ptr %p) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
