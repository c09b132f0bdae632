; Arithmetic that reports an overflow is left to its handlers; the flag is a byte of their result.
; RUN: inspect --baseline f
; CHECK: handler of sadd_ov32
; CHECK: movzx eax, byte ptr [rsi+44]
; CHECK: test bl, 1
; CHECK-NEXT: jne L0
; CHECK: handler of umul_ov64

declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
define i64 @f(i32 %a, i32 %b, i64 %c) {
  %pair = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %a, i32 %b)
  %over = extractvalue { i32, i1 } %pair, 1
  br i1 %over, label %bad, label %good
good:
  %sum = extractvalue { i32, i1 } %pair, 0
  %wide = sext i32 %sum to i64
  %product = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %wide, i64 %c)
  %result = extractvalue { i64, i1 } %product, 0
  ret i64 %result
bad:
  ret i64 -1
}
