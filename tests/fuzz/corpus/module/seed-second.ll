; A call stays direct; the address goes to the stub of the function.
define void @g() {
  ret void
}
define ptr @f() {
  call void @g()
  ret ptr @g
}
