; Two phis that swap go through a temporary slot.
define i64 @golden(i64 %n) {
entry:
  br label %loop
loop:
  %a = phi i64 [ 1, %entry ], [ %b, %loop ]
  %b = phi i64 [ 2, %entry ], [ %a, %loop ]
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %next = add i64 %i, -1
  %done = icmp eq i64 %next, 0
  br i1 %done, label %end, label %loop
end:
  ret i64 %a
}
define i32 @main() {
  %r = call i64 @golden(i64 3)
  ret i32 0
}
