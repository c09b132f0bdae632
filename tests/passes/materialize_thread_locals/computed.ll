; clang has computed the address already.
; RUN: materialize_thread_locals
; EXPECT: unchanged
@v = thread_local global [4 x i32] zeroinitializer
define i32 @f() {
  %a = call ptr @llvm.threadlocal.address.p0(ptr @v)
  %r = load i32, ptr %a
  ret i32 %r
}
declare ptr @llvm.threadlocal.address.p0(ptr)
