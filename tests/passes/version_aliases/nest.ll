; The outermost loop of the nest is copied, so that the guard runs once.
; RUN: version_aliases
; EXPECT: changed
define void @f(ptr %a, ptr %b, i64 %n) {
entry:
  br label %outer
outer:
  %j = phi i64 [ 0, %entry ], [ %j1, %latch ]
  %row = mul i64 %j, %n
  br label %loop
loop:
  %i = phi i64 [ 0, %outer ], [ %next, %loop ]
  %k = add i64 %row, %i
  %ai = getelementptr double, ptr %a, i64 %k
  %bi = getelementptr double, ptr %b, i64 %i
  %x = load double, ptr %bi
  store double %x, ptr %ai
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %latch
latch:
  %j1 = add nuw nsw i64 %j, 1
  %again = icmp ult i64 %j1, %n
  br i1 %again, label %outer, label %end
end:
  ret void
}
