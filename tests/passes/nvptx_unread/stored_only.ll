; Nothing reads the shared variable.
; RUN: nvptx_unread
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(3) global i32 poison
define ptx_kernel void @k() {
  store i32 1, ptr addrspace(3) @s
  ret void
}
