; The second time around, the loop has stored.
; RUN: nvptx_leading_barriers
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p, i1 %c) {
  br label %loop
loop:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 1, ptr %p
  br i1 %c, label %loop, label %end
end:
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
