; Variables become declarations; a constant keeps its value for folding.
; RUN: rewire
; EXPECT: changed
@v = global i32 1
@c = constant i32 2
define i32 @f() {
  %x = load i32, ptr @v
  %y = load i32, ptr @c
  %s = add i32 %x, %y
  ret i32 %s
}
