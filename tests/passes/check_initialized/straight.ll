; Stores at constant offsets cover the bytes that are read, or not.
; RUN: check_initialized
; EXPECT: report
define i32 @f(i32 %v) {
  %whole = alloca i32
  store i32 %v, ptr %whole
  %a = load i32, ptr %whole
  %none = alloca i32
  %b = load i32, ptr %none
  %half = alloca i32
  store i16 0, ptr %half
  %c = load i32, ptr %half
  %both = alloca i32
  store i16 0, ptr %both
  %upper = getelementptr i8, ptr %both, i64 2
  store i16 1, ptr %upper
  %d = load i32, ptr %both
  %late = alloca i32
  %e = load i32, ptr %late
  store i32 %v, ptr %late
  %s = add i32 %a, %b
  %t = add i32 %c, %d
  %u = add i32 %e, %s
  %r = add i32 %t, %u
  ret i32 %r
}
