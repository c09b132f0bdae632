; A function that calls vfork stays interpreted, and calls of it go to its stub.
; RUN: rewire
; EXPECT: report
declare i32 @vfork() returns_twice
define i32 @f() {
  %r = call i32 @vfork()
  ret i32 %r
}
define i32 @g() {
  %r = call i32 @f()
  ret i32 %r
}
