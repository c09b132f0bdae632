; Unknown functions, stores of the address and volatile accesses make a variable escape.
; RUN: check_initialized
; EXPECT: report
define i32 @f(ptr %p) {
  %called = alloca i32
  call void @g(ptr %called)
  %stored = alloca i32
  store ptr %stored, ptr %p
  %volatile = alloca i32
  store volatile i32 0, ptr %volatile
  %marked = alloca i32
  call void @llvm.lifetime.start.p0(ptr %marked)
  store i32 1, ptr %marked
  %x = load i32, ptr %marked
  call void @llvm.lifetime.end.p0(ptr %marked)
  ret i32 %x
}
declare void @g(ptr)
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
