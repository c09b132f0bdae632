; A loop that allocates on the stack cannot be left at its exits.
; RUN: osr_entry block=1
; EXPECT: changed
define i64 @f(ptr %p, i64 %n) {
entry:
  %twice = mul i64 %n, 2
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ 0, %entry ], [ %t, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  %a = alloca i64
  store i64 0, ptr %a
  %x = load i64, ptr %at
  %t = add i64 %s, %x
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %twice
  br i1 %more, label %loop, label %end
end:
  %r = add i64 %t, %twice
  ret i64 %r
}
