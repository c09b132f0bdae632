; Elsewhere, a region may run between the write and the read.
; RUN: check_initialized outside=true
; EXPECT: report
define i32 @f(i32 %v) {
  %written = alloca i32
  store i32 %v, ptr %written
  %a = load i32, ptr %written
  %unread = alloca i32
  store i32 %v, ptr %unread
  ret i32 %a
}
