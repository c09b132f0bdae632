; The resolver of an ifunc runs elsewhere; here it becomes a declaration.
; RUN: resolve_aliases
; EXPECT: changed
@h = ifunc void (), ptr @pick
define ptr @pick() {
  ret ptr @g
}
define void @g() {
  ret void
}
define void @f() {
  call void @h()
  ret void
}
