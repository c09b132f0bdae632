; Functions and variables stay as they are.
; RUN: resolve_aliases
; EXPECT: unchanged
@v = global i32 1
define i32 @f() {
  %r = load i32, ptr @v
  ret i32 %r
}
