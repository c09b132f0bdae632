; A load does not move past a store.
define double @golden(ptr %p, ptr %q, double %a) {
  %x = load double, ptr %p
  store double %a, ptr %q
  %s = fadd double %a, %x
  ret double %s
}
@data = global [4 x double] zeroinitializer
define i32 @main() {
  %r = call double @golden(ptr @data, ptr @data, double 2.0)
  ret i32 0
}
