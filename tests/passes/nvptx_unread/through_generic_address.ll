; The store goes through a cast of the address.
; RUN: nvptx_unread
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(3) global i32 poison
define ptx_kernel void @k() {
  store i32 1, ptr addrspacecast (ptr addrspace(3) @s to ptr)
  ret void
}
