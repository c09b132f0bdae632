; Values of 1 and 8 bits are words in the frame.
; RUN: osr_entry block=1
; EXPECT: changed
define i8 @f(i8 %n, i1 %flag) {
entry:
  br label %loop
loop:
  %i = phi i8 [ 0, %entry ], [ %next, %loop ]
  %c = phi i1 [ %flag, %entry ], [ %d, %loop ]
  %d = xor i1 %c, true
  %next = add i8 %i, 1
  %more = icmp ult i8 %next, %n
  br i1 %more, label %loop, label %end
end:
  %r = select i1 %d, i8 %next, i8 0
  ret i8 %r
}
