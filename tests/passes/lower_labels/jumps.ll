; Labels' addresses become offsets from a symbol, also in tables of differences and in other functions, and jumps to them
; become switches. A block that is a target twice is one case.
; RUN: lower_labels
; EXPECT: changed
target triple = "x86_64-unknown-linux-gnu"
@table = internal constant [2 x ptr] [ptr blockaddress(@f, %a), ptr blockaddress(@f, %b)]
@distances = internal constant [1 x i32] [i32 trunc (i64 sub (i64 ptrtoint (ptr blockaddress(@f, %b) to i64),
  i64 ptrtoint (ptr blockaddress(@f, %a) to i64)) to i32)]

define i32 @f(i64 %n) {
  %at = getelementptr ptr, ptr @table, i64 %n
  %to = load ptr, ptr %at
  indirectbr ptr %to, [label %a, label %b, label %b, label %c]
a:
  %again = icmp eq ptr %to, blockaddress(@f, %b)
  br i1 %again, label %b, label %c
b:
  %v = phi i32 [ 1, %0 ], [ 1, %0 ], [ 2, %a ]
  ret i32 %v
c:
  %w = phi i32 [ 3, %0 ], [ 4, %a ]
  ret i32 %w
}

define ptr @g() {
  ret ptr blockaddress(@f, %a)
}
