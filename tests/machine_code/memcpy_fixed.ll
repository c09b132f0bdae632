; Short copies and fills of fixed size are moves. A copy loads everything before it stores.
; RUN: inspect --baseline f
; CHECK: vmovups xmm1, [rdi+16]
; CHECK-NEXT: mov rax, [rdi+32]
; CHECK-NEXT: vmovups [rbx], xmm0
; CHECK: fill_words
; CHECK: vmovups [rbx+80], xmm0
; CHECK-NOT: handler

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @f(ptr %to, ptr %from) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 40, i1 false)
  %q = getelementptr i8, ptr %to, i64 64
  call void @llvm.memset.p0.i64(ptr %q, i8 0, i64 32, i1 false)
  ret void
}
