; With rows LLVM vectorizes the loop.
; RUN: uncollapse
; RUN: llvm function(loop-mssa(licm),loop-vectorize,simplifycfg)
; EXPECT: changed
define void @f(ptr noalias %x, ptr noalias %y, i64 %to, i64 %n) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %i = sdiv i64 %k, %n
  %j = srem i64 %k, %n
  %row = mul i64 %i, 1000
  %index = add i64 %row, %j
  %from = getelementptr double, ptr %x, i64 %index
  %element = load double, ptr %from
  %twice = fadd double %element, %element
  %at = getelementptr double, ptr %y, i64 %index
  store double %twice, ptr %at
  %next = add nsw i64 %k, 1
  %end = icmp eq i64 %k, %to
  br i1 %end, label %done, label %loop
done:
  ret void
}
