; Memory is read on one of two paths after the barrier.
; RUN: nvptx_barriers
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p, i1 %c) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %c, label %more, label %end
more:
  %x = load volatile i32, ptr %p
  br label %end
end:
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
