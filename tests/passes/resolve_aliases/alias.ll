; An alias of a function, and one of a place in a variable.
; RUN: resolve_aliases
; EXPECT: changed
@v = global [2 x i32] [i32 1, i32 2]
@w = alias i32, getelementptr (i8, ptr @v, i64 4)
@h = alias void (), ptr @g
define void @g() {
  ret void
}
define i32 @f() {
  call void @h()
  %r = load i32, ptr @w
  ret i32 %r
}
