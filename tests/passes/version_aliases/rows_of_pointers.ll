; The rows are pointers computed in the loop, which no guard before it can look up.
; RUN: version_aliases
; EXPECT: unchanged
define void @f(ptr %a, ptr %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %ar = getelementptr ptr, ptr %a, i64 %i
  %ai = load ptr, ptr %ar, !invariant.load !0
  %br = getelementptr ptr, ptr %b, i64 %i
  %bi = load ptr, ptr %br, !invariant.load !0
  %x = load double, ptr %bi
  store double %x, ptr %ai
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
!0 = !{}
