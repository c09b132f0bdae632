; A function that the kernel calls reads the variable.
; RUN: nvptx_unread
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(3) global i32 poison
define ptx_kernel void @k(ptr %p) {
  store i32 1, ptr addrspace(3) @s
  call void @g(ptr %p)
  ret void
}
define void @g(ptr %p) {
  %x = load i32, ptr addrspace(3) @s
  store i32 %x, ptr %p
  ret void
}
