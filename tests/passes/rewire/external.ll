; A function of the process and its address have symbols of their own.
; RUN: rewire
; EXPECT: changed
declare i32 @puts(ptr)
define i32 @f(ptr %s, ptr %p) {
  store ptr @puts, ptr %p
  %r = call i32 @puts(ptr %s)
  ret i32 %r
}
