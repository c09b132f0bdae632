; The variable is in global memory, which outlives the kernel.
; RUN: nvptx_unread
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(1) global i32 poison
define ptx_kernel void @k() {
  store i32 1, ptr addrspace(1) @s
  ret void
}
