; A value that only returns to its variable is not observed; one that divides, decides or leaves is.
; RUN: check_initialized
; EXPECT: report
define i32 @f(i32 %v) {
  %sum = alloca i32
  %a = load i32, ptr %sum
  %b = add i32 %a, %v
  store i32 %b, ptr %sum
  %divisor = alloca i32
  %c = load i32, ptr %divisor
  %d = udiv i32 %v, %c
  store i32 %d, ptr %divisor
  %out = alloca i32
  %e = load i32, ptr %out
  store i32 %e, ptr %sum
  ret i32 0
}
