; The loop has one index only.
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
  %at = getelementptr double, ptr %a, i64 %i
  store double 1.0, ptr %at
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
