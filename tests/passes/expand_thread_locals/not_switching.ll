; Without code that switches stacks, an address stays where clang has put it.
; RUN: expand_thread_locals
; EXPECT: unchanged
@v = thread_local global [4 x i32] zeroinitializer
define i32 @f() {
  %a = call ptr @llvm.threadlocal.address.p0(ptr @v)
  store i32 1, ptr %a
  call void @elsewhere()
  %r = load i32, ptr %a
  ret i32 %r
}
declare ptr @llvm.threadlocal.address.p0(ptr)
declare void @elsewhere()
