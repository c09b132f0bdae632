; The number is computed at the end of each block that it comes from, once for two edges of one block.
; RUN: expand_thread_locals
; EXPECT: changed
@v = thread_local global [4 x i32] zeroinitializer
define i64 @f(i32 %c) {
entry:
  switch i32 %c, label %other [
    i32 1, label %end
    i32 2, label %end
  ]
other:
  br label %end
end:
  %r = phi i64 [ ptrtoint (ptr @v to i64), %entry ], [ ptrtoint (ptr @v to i64), %entry ], [ 0, %other ]
  ret i64 %r
}
