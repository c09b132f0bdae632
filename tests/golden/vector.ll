; One double scales a pair; four lanes are shuffled by one instruction.
define <4 x double> @golden(ptr %p, double %a, <4 x double> %v) {
  %one = insertelement <2 x double> poison, double %a, i64 0
  %two = shufflevector <2 x double> %one, <2 x double> poison, <2 x i32> zeroinitializer
  %x = load <2 x double>, ptr %p
  %c = load <2 x double>, ptr %p
  %s = call <2 x double> @llvm.fmuladd.v2f64(<2 x double> %two, <2 x double> %x, <2 x double> %c)
  store <2 x double> %s, ptr %p
  %r = shufflevector <4 x double> %v, <4 x double> poison, <4 x i32> <i32 3, i32 2, i32 1, i32 0>
  %t = fadd <4 x double> %r, %v
  ret <4 x double> %t
}
declare <2 x double> @llvm.fmuladd.v2f64(<2 x double>, <2 x double>, <2 x double>)
@data = global [4 x double] zeroinitializer
define i32 @main() {
  %r = call <4 x double> @golden(ptr @data, double 2.0, <4 x double> zeroinitializer)
  ret i32 0
}
