; An alias is replaced by its aliasee.
; RUN: rewire
; EXPECT: changed
@h = alias void (), ptr @g
define void @g() {
  ret void
}
define void @f() {
  call void @h()
  ret void
}
