; The unrolled nest would have too many instructions.
; RUN: mark_unroll
; EXPECT: unchanged
define void @f(ptr %m) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  br label %inner
inner:
  %j = phi i64 [ %i, %outer ], [ %j1, %inner ]
  %at = getelementptr double, ptr %m, i64 %j
  %x0 = load double, ptr %at
  %y0 = fmul double %x0, 0.5
  store double %y0, ptr %at
  %x1 = load double, ptr %at
  %y1 = fmul double %x1, 0.5
  store double %y1, ptr %at
  %x2 = load double, ptr %at
  %y2 = fmul double %x2, 0.5
  store double %y2, ptr %at
  %x3 = load double, ptr %at
  %y3 = fmul double %x3, 0.5
  store double %y3, ptr %at
  %x4 = load double, ptr %at
  %y4 = fmul double %x4, 0.5
  store double %y4, ptr %at
  %x5 = load double, ptr %at
  %y5 = fmul double %x5, 0.5
  store double %y5, ptr %at
  %x6 = load double, ptr %at
  %y6 = fmul double %x6, 0.5
  store double %y6, ptr %at
  %x7 = load double, ptr %at
  %y7 = fmul double %x7, 0.5
  store double %y7, ptr %at
  %x8 = load double, ptr %at
  %y8 = fmul double %x8, 0.5
  store double %y8, ptr %at
  %x9 = load double, ptr %at
  %y9 = fmul double %x9, 0.5
  store double %y9, ptr %at
  %x10 = load double, ptr %at
  %y10 = fmul double %x10, 0.5
  store double %y10, ptr %at
  %x11 = load double, ptr %at
  %y11 = fmul double %x11, 0.5
  store double %y11, ptr %at
  %x12 = load double, ptr %at
  %y12 = fmul double %x12, 0.5
  store double %y12, ptr %at
  %x13 = load double, ptr %at
  %y13 = fmul double %x13, 0.5
  store double %y13, ptr %at
  %x14 = load double, ptr %at
  %y14 = fmul double %x14, 0.5
  store double %y14, ptr %at
  %x15 = load double, ptr %at
  %y15 = fmul double %x15, 0.5
  store double %y15, ptr %at
  %x16 = load double, ptr %at
  %y16 = fmul double %x16, 0.5
  store double %y16, ptr %at
  %x17 = load double, ptr %at
  %y17 = fmul double %x17, 0.5
  store double %y17, ptr %at
  %x18 = load double, ptr %at
  %y18 = fmul double %x18, 0.5
  store double %y18, ptr %at
  %x19 = load double, ptr %at
  %y19 = fmul double %x19, 0.5
  store double %y19, ptr %at
  %x20 = load double, ptr %at
  %y20 = fmul double %x20, 0.5
  store double %y20, ptr %at
  %x21 = load double, ptr %at
  %y21 = fmul double %x21, 0.5
  store double %y21, ptr %at
  %x22 = load double, ptr %at
  %y22 = fmul double %x22, 0.5
  store double %y22, ptr %at
  %x23 = load double, ptr %at
  %y23 = fmul double %x23, 0.5
  store double %y23, ptr %at
  %x24 = load double, ptr %at
  %y24 = fmul double %x24, 0.5
  store double %y24, ptr %at
  %x25 = load double, ptr %at
  %y25 = fmul double %x25, 0.5
  store double %y25, ptr %at
  %x26 = load double, ptr %at
  %y26 = fmul double %x26, 0.5
  store double %y26, ptr %at
  %x27 = load double, ptr %at
  %y27 = fmul double %x27, 0.5
  store double %y27, ptr %at
  %x28 = load double, ptr %at
  %y28 = fmul double %x28, 0.5
  store double %y28, ptr %at
  %x29 = load double, ptr %at
  %y29 = fmul double %x29, 0.5
  store double %y29, ptr %at
  %x30 = load double, ptr %at
  %y30 = fmul double %x30, 0.5
  store double %y30, ptr %at
  %x31 = load double, ptr %at
  %y31 = fmul double %x31, 0.5
  store double %y31, ptr %at
  %x32 = load double, ptr %at
  %y32 = fmul double %x32, 0.5
  store double %y32, ptr %at
  %x33 = load double, ptr %at
  %y33 = fmul double %x33, 0.5
  store double %y33, ptr %at
  %x34 = load double, ptr %at
  %y34 = fmul double %x34, 0.5
  store double %y34, ptr %at
  %x35 = load double, ptr %at
  %y35 = fmul double %x35, 0.5
  store double %y35, ptr %at
  %x36 = load double, ptr %at
  %y36 = fmul double %x36, 0.5
  store double %y36, ptr %at
  %x37 = load double, ptr %at
  %y37 = fmul double %x37, 0.5
  store double %y37, ptr %at
  %x38 = load double, ptr %at
  %y38 = fmul double %x38, 0.5
  store double %y38, ptr %at
  %x39 = load double, ptr %at
  %y39 = fmul double %x39, 0.5
  store double %y39, ptr %at
  %x40 = load double, ptr %at
  %y40 = fmul double %x40, 0.5
  store double %y40, ptr %at
  %x41 = load double, ptr %at
  %y41 = fmul double %x41, 0.5
  store double %y41, ptr %at
  %x42 = load double, ptr %at
  %y42 = fmul double %x42, 0.5
  store double %y42, ptr %at
  %x43 = load double, ptr %at
  %y43 = fmul double %x43, 0.5
  store double %y43, ptr %at
  %x44 = load double, ptr %at
  %y44 = fmul double %x44, 0.5
  store double %y44, ptr %at
  %x45 = load double, ptr %at
  %y45 = fmul double %x45, 0.5
  store double %y45, ptr %at
  %x46 = load double, ptr %at
  %y46 = fmul double %x46, 0.5
  store double %y46, ptr %at
  %x47 = load double, ptr %at
  %y47 = fmul double %x47, 0.5
  store double %y47, ptr %at
  %x48 = load double, ptr %at
  %y48 = fmul double %x48, 0.5
  store double %y48, ptr %at
  %x49 = load double, ptr %at
  %y49 = fmul double %x49, 0.5
  store double %y49, ptr %at
  %x50 = load double, ptr %at
  %y50 = fmul double %x50, 0.5
  store double %y50, ptr %at
  %x51 = load double, ptr %at
  %y51 = fmul double %x51, 0.5
  store double %y51, ptr %at
  %x52 = load double, ptr %at
  %y52 = fmul double %x52, 0.5
  store double %y52, ptr %at
  %x53 = load double, ptr %at
  %y53 = fmul double %x53, 0.5
  store double %y53, ptr %at
  %x54 = load double, ptr %at
  %y54 = fmul double %x54, 0.5
  store double %y54, ptr %at
  %x55 = load double, ptr %at
  %y55 = fmul double %x55, 0.5
  store double %y55, ptr %at
  %x56 = load double, ptr %at
  %y56 = fmul double %x56, 0.5
  store double %y56, ptr %at
  %x57 = load double, ptr %at
  %y57 = fmul double %x57, 0.5
  store double %y57, ptr %at
  %x58 = load double, ptr %at
  %y58 = fmul double %x58, 0.5
  store double %y58, ptr %at
  %x59 = load double, ptr %at
  %y59 = fmul double %x59, 0.5
  store double %y59, ptr %at
  %j1 = add nuw nsw i64 %j, 1
  %jmore = icmp ult i64 %j1, 8
  br i1 %jmore, label %inner, label %latch
latch:
  %i1 = add nuw nsw i64 %i, 1
  %imore = icmp ult i64 %i1, 8
  br i1 %imore, label %outer, label %end
end:
  ret void
}
