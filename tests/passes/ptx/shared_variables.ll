; Code for several devices: a variable that kernels write is found through pointers in constant
; memory, a large one through one for each kernel. A variable that only the host writes stays.
; RUN: ptx divided=1
; EXPECT: report
target triple = "nvptx64-nvidia-cuda"
@table = global [4096 x double] zeroinitializer, align 8
@count = internal global i32 7, align 4
@factor = global double 2.0, align 8
define ptx_kernel void @fill() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %at = getelementptr double, ptr @table, i64 %i
  %f = load double, ptr @factor
  store double %f, ptr %at
  %old = atomicrmw add ptr @count, i32 1 monotonic
  ret void
}
define ptx_kernel void @read(ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %at = getelementptr double, ptr @table, i64 %i
  %v = load double, ptr %at
  %to = getelementptr double, ptr %out, i64 %i
  store double %v, ptr %to
  ret void
}
