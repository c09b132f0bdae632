; A volatile store keeps its place among the others.
; RUN: cluster_stores
; EXPECT: unchanged
define void @f(ptr noalias %a, ptr noalias %b, <4 x double> %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a0 = getelementptr double, ptr %a, i64 %i
  %a32 = getelementptr i8, ptr %a0, i64 32
  %b0 = getelementptr double, ptr %b, i64 %i
  %b32 = getelementptr i8, ptr %b0, i64 32
  store volatile <4 x double> %v, ptr %a0
  store <4 x double> %v, ptr %b0
  store <4 x double> %v, ptr %b32
  store <4 x double> %v, ptr %a32
  %next = add i64 %i, 8
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
