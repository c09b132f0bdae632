; A plain variable keeps its address.
; RUN: materialize_thread_locals
; EXPECT: unchanged
@v = global i32 0
define i32 @f() {
  %r = load i32, ptr @v
  ret i32 %r
}
