; Calls are followed into functions of the module.
; RUN: check_initialized
; EXPECT: report
define void @f(ptr %p) {
  %written = alloca i32
  call void @writes(ptr %written)
  %read = alloca i32
  call void @reads(ptr %read, ptr %p)
  %passed = alloca i32
  call void @passes(ptr %passed)
  ret void
}
define internal void @writes(ptr %v) {
  store i32 1, ptr %v
  ret void
}
define internal void @reads(ptr %v, ptr %p) {
  %x = load i32, ptr %v
  store i32 %x, ptr %p
  ret void
}
define internal void @passes(ptr %v) {
  call void @unknown(ptr %v)
  ret void
}
declare void @unknown(ptr)
