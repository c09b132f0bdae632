; The source has these vectors, not the vectorizer.
; RUN: mark_unroll
; EXPECT: unchanged
define void @f(ptr %a, ptr %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %ai = getelementptr double, ptr %a, i64 %i
  %bi = getelementptr double, ptr %b, i64 %i
  %x = load <2 x double>, ptr %ai
  %y = fadd <2 x double> %x, %x
  store <2 x double> %y, ptr %bi
  %next = add nuw nsw i64 %i, 2
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
