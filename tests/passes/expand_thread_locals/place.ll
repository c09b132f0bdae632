; Every tier can compute the address of a place in the variable.
; RUN: expand_thread_locals
; EXPECT: unchanged
@v = thread_local global [4 x i32] zeroinitializer
define i32 @f() {
  %r = load i32, ptr getelementptr (i8, ptr @v, i64 4)
  ret i32 %r
}
