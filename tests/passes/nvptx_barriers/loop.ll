; The loop stores before it comes to the barrier again.
; RUN: nvptx_barriers
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p, i1 %c) {
  br label %loop
loop:
  store i32 1, ptr %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %c, label %loop, label %end
end:
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
