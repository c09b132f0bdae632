; In a program that switches stacks, addresses are fetched again behind calls that may return on another thread: in the
; loop, for the constant distance, at the end of a block for a phi. Calls of the OpenMP runtime do not switch.
; RUN: expand_thread_locals
; EXPECT: changed
@v = thread_local global [4 x i32] zeroinitializer
define i32 @f(i32 %n, i32 %gtid) {
entry:
  %a = call ptr @llvm.threadlocal.address.p0(ptr @v)
  %third = getelementptr i8, ptr %a, i64 8
  %before = load i32, ptr %third
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = load i32, ptr %a
  call void @__kmpc_barrier(ptr null, i32 %gtid)
  %y = load i32, ptr %third
  call void @yield()
  store i32 %x, ptr %third
  %next = add i32 %i, %y
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  %p = phi ptr [ %a, %loop ]
  %r = load i32, ptr %p
  ret i32 %r
}
; Nothing switches here.
define i32 @g(i1 %c) {
entry:
  %a = call ptr @llvm.threadlocal.address.p0(ptr @v)
  br i1 %c, label %then, label %end
then:
  store i32 1, ptr %a
  br label %end
end:
  %r = load i32, ptr %a
  ret i32 %r
}
declare ptr @llvm.threadlocal.address.p0(ptr)
declare void @__kmpc_barrier(ptr, i32)
declare void @yield()
declare i32 @swapcontext(ptr, ptr)
