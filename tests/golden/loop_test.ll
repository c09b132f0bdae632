; A loop whose head only tests: the branch back jumps to the head, where iterations are counted and
; compiled code is entered. The edge from the head to the last test, which heads no loop, has a copy
; of that test.
define i64 @golden(i64 %n, i64 %m) {
entry:
  %mixed = xor i64 %n, %m
  %odd = trunc i64 %n to i1
  br i1 %odd, label %head, label %done
head:
  %i = phi i64 [ %mixed, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %twice = shl i64 %i, 1
  %next = xor i64 %twice, %m
  br label %head
done:
  %r = phi i64 [ %m, %entry ], [ %i, %head ]
  %big = icmp ugt i64 %r, 9
  br i1 %big, label %large, label %small
large:
  ret i64 %r
small:
  ret i64 %n
}
define i32 @main() {
  %r = call i64 @golden(i64 3, i64 1)
  ret i32 0
}
