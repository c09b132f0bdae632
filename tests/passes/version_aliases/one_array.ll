; All accesses are based on one pointer.
; RUN: version_aliases
; EXPECT: unchanged
define void @f(ptr %a, ptr %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %ai = getelementptr double, ptr %a, i64 %i
  %bi = getelementptr double, ptr %ai, i64 8
  %x = load double, ptr %bi
  store double %x, ptr %ai
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
