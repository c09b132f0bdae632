; Accesses with the mark lose it and their volatile flag; the others keep theirs.
; RUN: release_arrays
; EXPECT: changed
define double @f(ptr %p) {
  %a = alloca [4 x double]
  call void @ompvm.in_memory(ptr %a)
  store volatile double 1.0, ptr %a, !ompvm.in_memory !0
  %x = load volatile double, ptr %a, !ompvm.in_memory !0
  store volatile double %x, ptr %p
  ret double %x
}
declare void @ompvm.in_memory(ptr)
!0 = !{}
