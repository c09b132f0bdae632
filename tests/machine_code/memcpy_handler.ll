; Copies of variable size, and long ones, are left to their handlers.
; RUN: inspect --baseline f
; CHECK: handler of memcpy
; CHECK: handler of memcpy_fixed

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @f(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 4096, i1 false)
  ret void
}
