; A pointer with accesses at fixed offsets only is looked up as bytes outside of the blocks.
; RUN: version_aliases
; EXPECT: changed
define void @f(ptr %a, ptr %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %ai = getelementptr double, ptr %a, i64 %i
  %x = load double, ptr %b
  %y = load double, ptr %ai
  %z = fadd double %x, %y
  store double %z, ptr %ai
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
