; A value that only an instruction without a result of its own reads behind the loop is not stored: its slot may have
; another value.
; RUN: osr_entry block=1 dead=9
; EXPECT: changed
define i64 @f(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i64, ptr %p, i64 %i
  %x = load i64, ptr %at
  %next = add i64 %i, %x
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  %unused = add i64 %x, 1
  ret i64 %next
}
