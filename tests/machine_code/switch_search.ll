; A switch with sparse keys is left to its handler, and all its targets are entered through word 0.
; RUN: inspect --baseline f
; CHECK: handler of switch_search
; CHECK: word 0 of 128:
; CHECK: word 0 of 144:
; CHECK: word 0 of 160:
; CHECK: word 0 of 176:

define i64 @f(i64 %a) {
  switch i64 %a, label %default [
    i64 1, label %first
    i64 1000, label %second
    i64 1000000, label %third
    i64 1000000000, label %first
    i64 2000000000, label %second
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
