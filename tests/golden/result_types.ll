; Calls of functions with another result than the call declares: they go through native code, which returns
; what machine code would. flang returns a character as [1 x i8], where C expects i8.
define internal [1 x i8] @character() noinline {
  %r = insertvalue [1 x i8] poison, i8 65, 0
  ret [1 x i8] %r
}

define internal i32 @number() noinline {
  ret i32 321
}

define internal i64 @word() noinline {
  ret i64 7
}

define i32 @golden() {
  %same = call [1 x i8] @character()
  %text = call i8 @character()
  %low = call i8 @number()
  call void @word()
  %a = zext i8 %text to i32
  %b = zext i8 %low to i32
  %s = add i32 %a, %b
  ret i32 %s
}
define i32 @main() {
  %s = call i32 @golden()
  %bad = icmp ne i32 %s, 130
  %r = zext i1 %bad to i32
  ret i32 %r
}
