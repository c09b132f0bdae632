; Another module may read an external variable.
; RUN: nvptx_unread
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
@s = addrspace(3) global i32 poison
define ptx_kernel void @k() {
  store i32 1, ptr addrspace(3) @s
  ret void
}
