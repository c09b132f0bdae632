; Sums and exchanges of whole words are locked instructions; acquiring loads and releasing stores
; are plain moves.
; RUN: inspect --baseline f
; CHECK: lock xadd [rbx], rax
; CHECK: xchg [rbx], rax
; CHECK: aload64
; CHECK-NEXT: mov r9, [rbx]
; CHECK: astore64
; CHECK-NEXT: mov [rbx], r8
; CHECK-NOT: handler

define i64 @f(ptr %p, i64 %a) {
  %old = atomicrmw add ptr %p, i64 %a seq_cst
  %before = atomicrmw xchg ptr %p, i64 %old seq_cst
  %now = load atomic i64, ptr %p acquire, align 8
  %sum = add i64 %before, %now
  store atomic i64 %sum, ptr %p release, align 8
  ret i64 %sum
}
