; Outside of a loop the stores stay as they are.
; RUN: cluster_stores
; EXPECT: unchanged
define void @f(ptr noalias %a, ptr noalias %b, <4 x double> %v) {
  store <4 x double> %v, ptr %a
  store <4 x double> %v, ptr %b
  %a32 = getelementptr i8, ptr %a, i64 32
  store <4 x double> %v, ptr %a32
  %b32 = getelementptr i8, ptr %b, i64 32
  store <4 x double> %v, ptr %b32
  ret void
}
