; Memory is written on one of two paths to the barrier.
; RUN: nvptx_leading_barriers
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p, i1 %c) {
  br i1 %c, label %more, label %end
more:
  store i32 1, ptr %p
  br label %end
end:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 2, ptr %p
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
