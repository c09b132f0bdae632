; Adjacent threads access adjacent elements already.
; RUN: nvptx_tile_loops
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @f(ptr %a, ptr %b, i64 %total, i64 %m, i64 %k) {
entry:
  %first = call i64 @__ompvm_grid_part()
  %step = call i64 @__ompvm_grid_parts()
  %any = icmp ule i64 %first, %total
  br i1 %any, label %before, label %end
before:
  br label %loop
loop:
  %i = phi i64 [ %first, %before ], [ %next, %loop ]
  %y = udiv i64 %i, %m
  %x = urem i64 %i, %m
  %row = mul i64 %y, %m
  %c = add i64 %row, %x
  %at = getelementptr double, ptr %a, i64 %c
  %v = load double, ptr %at
  %w = fadd double %v, 1.0
  store double %w, ptr %at
  %next = add i64 %i, %step
  %more = icmp ule i64 %next, %total
  br i1 %more, label %loop, label %done
done:
  br label %end
end:
  ret void
}
declare i64 @__ompvm_grid_part()
declare i64 @__ompvm_grid_parts()
