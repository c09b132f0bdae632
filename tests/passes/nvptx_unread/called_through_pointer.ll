; A call through a pointer may reach the function that reads.
; RUN: nvptx_unread
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(3) global i32 poison
define ptx_kernel void @k(ptr %f) {
  store i32 1, ptr addrspace(3) @s
  call void %f()
  ret void
}
define void @g() {
  %x = load volatile i32, ptr addrspace(3) @s
  ret void
}
