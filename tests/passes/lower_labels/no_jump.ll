; A function whose labels nothing refers to, and that does not jump to any, stays as it is.
; RUN: lower_labels
; EXPECT: unchanged
target triple = "x86_64-unknown-linux-gnu"
define void @f(i1 %c) {
  br i1 %c, label %a, label %b
a:
  br label %b
b:
  ret void
}
