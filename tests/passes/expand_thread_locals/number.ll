; An address as a number is an instruction, since it belongs to the thread.
; RUN: expand_thread_locals
; EXPECT: changed
@v = thread_local global [4 x i32] zeroinitializer
define i64 @f() {
  %r = add i64 ptrtoint (ptr getelementptr (i8, ptr @v, i64 4) to i64), 1
  ret i64 %r
}
