; A call of a guest function and one through a pointer.
define i32 @callee(i32 %a, i32 %b) {
  %r = sub i32 %a, %b
  ret i32 %r
}
define i32 @golden(i32 %a, ptr %f) {
  %x = call i32 @callee(i32 %a, i32 5)
  %y = call i32 %f(i32 %x, i32 %a)
  ret i32 %y
}
define i32 @main() {
  %r = call i32 @golden(i32 3, ptr @callee)
  ret i32 0
}
