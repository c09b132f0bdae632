; Addresses of labels belong to the interpreter.
; RUN: rewire
; EXPECT: report
define i32 @f(i64 %n) {
entry:
  %at = select i1 false, ptr blockaddress(@f, %a), ptr blockaddress(@f, %b)
  indirectbr ptr %at, [ label %a, label %b ]
a:
  ret i32 1
b:
  ret i32 2
}
