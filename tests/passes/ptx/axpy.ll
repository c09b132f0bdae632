; One element per thread; the loads are not ordered by anything.
; RUN: ptx
; EXPECT: report
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @axpy(ptr noalias %x, ptr noalias %y, double %a) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %xi = getelementptr double, ptr %x, i64 %i
  %yi = getelementptr double, ptr %y, i64 %i
  %u = load double, ptr %xi
  %v = load double, ptr %yi
  %p = fmul double %u, %a
  %s = fadd double %p, %v
  store double %s, ptr %yi
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
