; Native functions of integers and of doubles are called directly, others by their call plan.
declare i32 @abs(i32)
declare double @pow(double, double)
declare double @ldexp(double, i32)
define double @golden(i32 %a, double %x) {
  %i = call i32 @abs(i32 %a)
  %y = call double @pow(double %x, double %x)
  %z = call double @ldexp(double %y, i32 %i)
  ret double %z
}
define i32 @main() {
  %r = call double @golden(i32 3, double 2.0)
  ret i32 0
}
