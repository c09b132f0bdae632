; The variable holds an extended argument; the conversion moves to the entry.
; RUN: nvptx_promote
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
@k_kernel_environment = constant { { i8, i8, i8, i32, i32, i32, i32, i32, i32 } } { { i8, i8, i8, i32, i32, i32, i32, i32, i32 } { i8 1, i8 0, i8 2, i32 1, i32 128, i32 0, i32 0, i32 0, i32 0 } }
@s = internal addrspace(3) global i64 poison
define ptx_kernel void @k(ptr %p, i32 %v) {
  br label %then
then:
  %w = zext i32 %v to i64
  store i64 %w, ptr addrspace(3) @s
  %x = load i64, ptr addrspace(3) @s
  store i64 %x, ptr %p
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
