; Only a write that dominates the read counts.
; RUN: check_initialized
; EXPECT: report
define i32 @f(i1 %c, i32 %v) {
entry:
  %one = alloca i32
  %before = alloca i32
  store i32 %v, ptr %before
  br i1 %c, label %then, label %end
then:
  store i32 %v, ptr %one
  store i32 0, ptr %before
  br label %end
end:
  %a = load i32, ptr %one
  %b = load i32, ptr %before
  %s = add i32 %a, %b
  ret i32 %s
}
