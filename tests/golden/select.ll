; A comparison or a bit test used only by a select is fused with it; so is a product of a sum
; and a constant.
define i64 @golden(i64 %n) {
  %bit = and i64 %n, 1
  %even = icmp eq i64 %bit, 0
  %triple = mul i64 %n, 3
  %up = add i64 %triple, 1
  %down = lshr i64 %n, 1
  %next = select i1 %even, i64 %down, i64 %up
  %small = icmp slt i64 %next, %n
  %least = select i1 %small, i64 %next, i64 %n
  ret i64 %least
}
define i32 @main() {
  %r = call i64 @golden(i64 7)
  ret i32 0
}
