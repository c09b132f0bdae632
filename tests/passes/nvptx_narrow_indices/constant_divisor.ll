; LLVM turns division by a constant into a multiplication.
; RUN: nvptx_narrow_indices
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define void @f(ptr %a, i64 %first, i64 %step, i64 %n, i64 %m) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %loop ]
  %y = udiv i64 %i, 100
  %x = urem i64 %i, 100
  %s = add i64 %x, %y
  %at = getelementptr double, ptr %a, i64 %s
  store double 1.0, ptr %at
  %next = add i64 %i, %step
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
