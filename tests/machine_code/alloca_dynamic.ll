; An alloca of variable size is left to its handler; the stack pointer is saved and restored in
; place.
; RUN: inspect --baseline f
; CHECK: stack_save
; CHECK-NEXT: mov rbx, [rdx]
; CHECK: handler of alloca
; CHECK: stack_restore
; CHECK: mov [rdx], rax

declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
define i64 @f(i64 %n) {
  %sp = call ptr @llvm.stacksave.p0()
  %p = alloca i64, i64 %n
  store volatile i64 %n, ptr %p
  %v = load volatile i64, ptr %p
  call void @llvm.stackrestore.p0(ptr %sp)
  ret i64 %v
}
