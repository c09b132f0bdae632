; Addresses of plain variables are constants.
; RUN: expand_thread_locals
; EXPECT: unchanged
@v = global [4 x i32] zeroinitializer
define i64 @f() {
  %r = add i64 ptrtoint (ptr @v to i64), 1
  ret i64 %r
}
