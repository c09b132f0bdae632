; A structure and a vector are built member by member.
; RUN: expand_thread_locals
; EXPECT: changed
@v = thread_local global [4 x i32] zeroinitializer
define { i64, ptr } @f(ptr %p) {
  store <2 x i64> <i64 1, i64 ptrtoint (ptr @v to i64)>, ptr %p
  ret { i64, ptr } { i64 1, ptr @v }
}
