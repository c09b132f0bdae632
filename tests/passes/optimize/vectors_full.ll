; A loop over vectors of 128 bits, compiled with all effort; its vectors are packed.
; RUN: optimize level=full
; EXPECT: changed
define void @f(ptr noalias %a, ptr noalias %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %ai = getelementptr double, ptr %a, i64 %i
  %bi = getelementptr double, ptr %b, i64 %i
  %x = load <2 x double>, ptr %ai, align 8
  %y = fadd <2 x double> %x, splat (double 1.0)
  store <2 x double> %y, ptr %bi, align 8
  %next = add nuw nsw i64 %i, 2
  %more = icmp ult i64 %next, 1024
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  ret void
}
!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.isvectorized", i32 1}
!2 = !{!"llvm.loop.unroll.runtime.disable"}
