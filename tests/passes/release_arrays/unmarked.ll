; Without a kept array volatile accesses stay volatile.
; RUN: release_arrays
; EXPECT: unchanged
define double @f(ptr %p) {
  store volatile double 1.0, ptr %p
  %x = load volatile double, ptr %p
  ret double %x
}
