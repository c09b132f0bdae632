; A product accumulated in memory is one instruction; the index's constant is folded into the address.
define void @golden(ptr %p, ptr %q, i64 %i, double %a) {
  %k = add nsw i64 %i, 1
  %at = getelementptr double, ptr %p, i64 %k
  %x = load double, ptr %at
  %y = load double, ptr %q
  %s = call double @llvm.fmuladd.f64(double %a, double %x, double %y)
  store double %s, ptr %q
  ret void
}
declare double @llvm.fmuladd.f64(double, double, double)
@data = global [4 x double] zeroinitializer
define i32 @main() {
  call void @golden(ptr @data, ptr @data, i64 1, double 2.0)
  ret i32 0
}
