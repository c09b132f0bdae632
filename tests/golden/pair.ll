; Two loads become one pair.
define <2 x double> @golden(ptr %p, ptr %q) {
  %x = load double, ptr %p
  %at = getelementptr double, ptr %q, i64 3
  %y = load double, ptr %at
  %a = insertelement <2 x double> poison, double %x, i64 0
  %b = insertelement <2 x double> %a, double %y, i64 1
  ret <2 x double> %b
}
@data = global [4 x double] zeroinitializer
define i32 @main() {
  %r = call <2 x double> @golden(ptr @data, ptr @data)
  ret i32 0
}
