; A switch with dense keys is left to its handler, and all its targets are entered through word 0.
; RUN: inspect --baseline f
; CHECK: handler of switch_table
; CHECK: word 0 of 80:
; CHECK: word 0 of 96:
; CHECK: word 0 of 112:
; CHECK: word 0 of 128:

define i64 @f(i64 %a) {
  switch i64 %a, label %default [
    i64 10, label %first
    i64 11, label %second
    i64 12, label %third
    i64 13, label %first
  ]
first:
  ret i64 1
second:
  ret i64 2
third:
  ret i64 3
default:
  ret i64 0
}
