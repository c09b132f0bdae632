; The comparison with the last iteration has another use, which would see another number.
; RUN: nvptx_tile_loops
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @f(ptr %a, ptr %b, i64 %total, i64 %m, i64 %k) {
entry:
  %first = call i64 @__ompvm_grid_part()
  %step = call i64 @__ompvm_grid_parts()
  %any = icmp ule i64 %first, %total
  %z = zext i1 %any to i64
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
  %left = getelementptr i8, ptr %at, i64 -8
  %right = getelementptr i8, ptr %at, i64 8
  %below = getelementptr double, ptr %at, i64 %m
  %v0 = load double, ptr %at
  %v1 = load double, ptr %left
  %v2 = load double, ptr %right
  %v3 = load double, ptr %below
  %s0 = fadd double %v0, %v1
  %s1 = fadd double %s0, %v2
  %s2 = fadd double %s1, %v3
  %to = getelementptr double, ptr %b, i64 %c
  store double %s2, ptr %to
  %next = add i64 %i, %step
  %more = icmp ule i64 %next, %total
  br i1 %more, label %loop, label %done
done:
  br label %end
end:
  store i64 %z, ptr %b
  ret void
}
declare i64 @__ompvm_grid_part()
declare i64 @__ompvm_grid_parts()
