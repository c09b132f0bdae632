; The thread's copy of a variable is found in place if the thread last used the same program; the
; handler looks it up otherwise.
; RUN: inspect --baseline f
; CHECK: cmp rax, [rdx+24]
; CHECK-NEXT: jne L0
; CHECK-NEXT: mov rbx, [rdx+16]
; CHECK: L0:
; CHECK: handler of tls_address

@counter = thread_local global i64 0
declare ptr @llvm.threadlocal.address.p0(ptr)
define i64 @f(i64 %a) {
  %p = call ptr @llvm.threadlocal.address.p0(ptr @counter)
  %old = load i64, ptr %p
  %new = add i64 %old, %a
  store i64 %new, ptr %p
  ret i64 %new
}
