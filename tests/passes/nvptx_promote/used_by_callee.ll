; A function that the kernel calls uses the array.
; RUN: nvptx_promote
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
@k_kernel_environment = constant { { i8, i8, i8, i32, i32, i32, i32, i32, i32 } } { { i8, i8, i8, i32, i32, i32, i32, i32, i32 } { i8 1, i8 0, i8 2, i32 1, i32 128, i32 0, i32 0, i32 0, i32 0 } }
@s = internal addrspace(3) global [128 x i32] poison
define ptx_kernel void @k(ptr %p, i32 %v) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %e = getelementptr [128 x i32], ptr addrspace(3) @s, i32 0, i32 %t
  store i32 %v, ptr addrspace(3) %e
  %x = load i32, ptr addrspace(3) %e
  store i32 %x, ptr %p
  call void @g(ptr %p)
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @g(ptr %p) {
  %x = load i32, ptr addrspace(3) @s
  store i32 %x, ptr %p
  ret void
}
