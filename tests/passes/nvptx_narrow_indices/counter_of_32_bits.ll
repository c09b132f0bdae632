; The counter has 32 bits already.
; RUN: nvptx_narrow_indices
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define void @f(ptr %a, i32 %first, i32 %step, i32 %n, i32 %m) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %first, %entry ], [ %next, %loop ]
  %y = udiv i32 %i, %m
  %x = urem i32 %i, %m
  %s = add i32 %x, %y
  %at = getelementptr double, ptr %a, i32 %s
  store double 1.0, ptr %at
  %next = add i32 %i, %step
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
