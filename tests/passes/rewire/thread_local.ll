; The block of the thread is fetched once, and variables are offsets from it.
; RUN: rewire
; EXPECT: changed
@v = thread_local global i32 1
@w = thread_local global i32 2
define i32 @f() {
  %x = load i32, ptr @v
  %y = load i32, ptr @w
  %s = add i32 %x, %y
  ret i32 %s
}
