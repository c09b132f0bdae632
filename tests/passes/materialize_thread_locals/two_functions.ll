; Each function computes the address itself.
; RUN: materialize_thread_locals
; EXPECT: changed
@v = thread_local global [4 x i32] zeroinitializer
define void @f() {
  store i32 1, ptr @v
  ret void
}
define void @g() {
  store i32 2, ptr @v
  ret void
}
