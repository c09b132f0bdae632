; Sixteen loads move; the seventeenth would take one register too many.
; RUN: nvptx_hoist_loads
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
define double @k(ptr %p, ptr %q, double %a, double %b, i64 %i) {
  %d = fdiv double %a, %b
  %a0 = getelementptr double, ptr %p, i64 0
  %x0 = load double, ptr %a0
  %a1 = getelementptr double, ptr %p, i64 1
  %x1 = load double, ptr %a1
  %a2 = getelementptr double, ptr %p, i64 2
  %x2 = load double, ptr %a2
  %a3 = getelementptr double, ptr %p, i64 3
  %x3 = load double, ptr %a3
  %a4 = getelementptr double, ptr %p, i64 4
  %x4 = load double, ptr %a4
  %a5 = getelementptr double, ptr %p, i64 5
  %x5 = load double, ptr %a5
  %a6 = getelementptr double, ptr %p, i64 6
  %x6 = load double, ptr %a6
  %a7 = getelementptr double, ptr %p, i64 7
  %x7 = load double, ptr %a7
  %a8 = getelementptr double, ptr %p, i64 8
  %x8 = load double, ptr %a8
  %a9 = getelementptr double, ptr %p, i64 9
  %x9 = load double, ptr %a9
  %a10 = getelementptr double, ptr %p, i64 10
  %x10 = load double, ptr %a10
  %a11 = getelementptr double, ptr %p, i64 11
  %x11 = load double, ptr %a11
  %a12 = getelementptr double, ptr %p, i64 12
  %x12 = load double, ptr %a12
  %a13 = getelementptr double, ptr %p, i64 13
  %x13 = load double, ptr %a13
  %a14 = getelementptr double, ptr %p, i64 14
  %x14 = load double, ptr %a14
  %a15 = getelementptr double, ptr %p, i64 15
  %x15 = load double, ptr %a15
  %a16 = getelementptr double, ptr %p, i64 16
  %x16 = load double, ptr %a16
  %s0 = fadd double %d, %x0
  %s1 = fadd double %s0, %x1
  %s2 = fadd double %s1, %x2
  %s3 = fadd double %s2, %x3
  %s4 = fadd double %s3, %x4
  %s5 = fadd double %s4, %x5
  %s6 = fadd double %s5, %x6
  %s7 = fadd double %s6, %x7
  %s8 = fadd double %s7, %x8
  %s9 = fadd double %s8, %x9
  %s10 = fadd double %s9, %x10
  %s11 = fadd double %s10, %x11
  %s12 = fadd double %s11, %x12
  %s13 = fadd double %s12, %x13
  %s14 = fadd double %s13, %x14
  %s15 = fadd double %s14, %x15
  %s16 = fadd double %s15, %x16
  ret double %s16
}
