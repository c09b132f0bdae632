; The kernel reads the variable.
; RUN: nvptx_unread
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(3) global i32 poison
define ptx_kernel void @k(ptr %p) {
  store i32 1, ptr addrspace(3) @s
  %x = load i32, ptr addrspace(3) @s
  store i32 %x, ptr %p
  ret void
}
