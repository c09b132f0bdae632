; Fortran's collapsed loops count without sign, and a value handed from iteration to iteration passes
; from row to row.
; RUN: uncollapse
; EXPECT: changed
define double @f(ptr %x, i32 %low, i32 %trips, i32 %n) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %more, %loop ]
  %counter = add i32 %k, %low
  %j = urem i32 %counter, %n
  %i = udiv i32 %counter, %n
  %row = mul i32 %i, 1000
  %index = add i32 %row, %j
  %wide = zext i32 %index to i64
  %at = getelementptr double, ptr %x, i64 %wide
  %element = load double, ptr %at
  %more = fadd double %sum, %element
  %next = add nuw i32 %k, 1
  %again = icmp ult i32 %next, %trips
  br i1 %again, label %loop, label %done
done:
  ret double %more
}
