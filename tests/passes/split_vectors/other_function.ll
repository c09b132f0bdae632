; Each function is judged alone; the integers of @g stay.
; RUN: split_vectors
; EXPECT: changed
define <4 x double> @f(<4 x double> %x) {
  %s = fmul <4 x double> %x, %x
  ret <4 x double> %s
}
define <4 x i64> @g(<4 x i64> %x) {
  %s = mul <4 x i64> %x, %x
  ret <4 x i64> %s
}
