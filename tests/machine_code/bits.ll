; Counts of bits, byte swaps and funnel shifts are left to their handlers. The block after them
; begins with nothing in registers.
; RUN: inspect --baseline f
; CHECK: handler of ctpop
; CHECK: handler of bswap64
; CHECK: handler of fshl64
; CHECK: word 0 of 80:
; CHECK-NEXT: add64
; CHECK-NEXT: mov rbx, [rsi+24]

declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.bswap.i64(i64)
declare i64 @llvm.fshl.i64(i64, i64, i64)
define i64 @f(i64 %a) {
  %count = call i64 @llvm.ctpop.i64(i64 %a)
  %swapped = call i64 @llvm.bswap.i64(i64 %a)
  %rotated = call i64 @llvm.fshl.i64(i64 %swapped, i64 %swapped, i64 9)
  %result = add i64 %count, %rotated
  ret i64 %result
}
