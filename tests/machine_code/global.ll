; The addresses of variables are constants of the frame.
; RUN: inspect --baseline f
; CHECK: mov qword ptr [rsi+48], &counters
; CHECK-NEXT: mov qword ptr [rsi+56], &counters+16
; CHECK: mov r9, [rbx+r8*8]
; CHECK: mov [rbx+r8*8], r9

@counters = global [4 x i64] zeroinitializer
define i64 @f(i64 %i) {
  %p = getelementptr [4 x i64], ptr @counters, i64 0, i64 %i
  %old = load i64, ptr %p
  %new = add i64 %old, 1
  store i64 %new, ptr %p
  %first = load i64, ptr getelementptr (i8, ptr @counters, i64 16)
  %sum = add i64 %first, %new
  ret i64 %sum
}
