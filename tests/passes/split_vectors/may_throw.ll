; A block ends in a call that may throw, behind which the scalarizer would insert instructions.
; RUN: split_vectors
; EXPECT: unchanged
define <4 x double> @f(<4 x double> %x) personality ptr @personality {
  %s = fadd <4 x double> %x, %x
  %r = invoke <4 x double> @g(<4 x double> %s) to label %end unwind label %pad
end:
  ret <4 x double> %r
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}
declare <4 x double> @g(<4 x double>)
declare i32 @personality(...)
