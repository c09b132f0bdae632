; Loads of less than a word extend with zeros; an offset is part of the address.
; RUN: inspect --baseline f
; CHECK: movzx r8d, byte ptr [rbx]
; CHECK: mov [r9], r8b
; CHECK: movzx r8d, word ptr [rbx+8]
; CHECK: mov [r9+8], r8w
; CHECK: mov r8d, [rbx+16]
; CHECK: mov [r9+16], r8d
; CHECK: mov rbx, [rbx+24]
; CHECK: mov [r9+24], rbx

define void @f(ptr %to, ptr %from) {
  %byte = load i8, ptr %from
  store i8 %byte, ptr %to
  %from2 = getelementptr i8, ptr %from, i64 8
  %half = load i16, ptr %from2
  %to2 = getelementptr i8, ptr %to, i64 8
  store i16 %half, ptr %to2
  %from4 = getelementptr i8, ptr %from, i64 16
  %word = load i32, ptr %from4
  %to4 = getelementptr i8, ptr %to, i64 16
  store i32 %word, ptr %to4
  %from8 = getelementptr i8, ptr %from, i64 24
  %long = load i64, ptr %from8
  %to8 = getelementptr i8, ptr %to, i64 24
  store i64 %long, ptr %to8
  ret void
}
