; The loop stores through one pointer and loads through another; a copy runs if both are heap blocks.
; RUN: version_aliases
; EXPECT: changed
define void @f(ptr %a, ptr %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %ai = getelementptr double, ptr %a, i64 %i
  %bi = getelementptr double, ptr %b, i64 %i
  %x = load double, ptr %bi
  %y = fmul double %x, 2.0
  store double %y, ptr %ai
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
