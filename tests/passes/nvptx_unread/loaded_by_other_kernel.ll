; Another kernel has a variable of its own, so its load does not count.
; RUN: nvptx_unread
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(3) global i32 poison
define ptx_kernel void @k() {
  store i32 1, ptr addrspace(3) @s
  ret void
}
define ptx_kernel void @other(ptr %p) {
  %x = load i32, ptr addrspace(3) @s
  store i32 %x, ptr %p
  ret void
}
