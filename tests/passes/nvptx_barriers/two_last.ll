; Of two barriers at the end none is needed.
; RUN: nvptx_barriers
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(i1 %c) {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %c, label %more, label %end
more:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %end
end:
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
