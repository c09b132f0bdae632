; A function with local variables that uses a thread-local one: they are part of its frame, which is aligned as an argument
; of 64 bytes on the stack requires. Allocated one by one, behind the access to the thread-local variable, they were not.

@own = thread_local global i32 3
@text = private constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr, ...)
declare ptr @llvm.threadlocal.address.p0(ptr)

define internal void @change(ptr %p) noinline {
  %x = load i32, ptr %p
  %y = add i32 %x, 1
  store i32 %y, ptr %p
  ret void
}

define internal i32 @sum(ptr byval(<16 x i32>) align 64 %wide) noinline {
  %p = getelementptr i32, ptr %wide, i64 9
  %v = load <16 x i32>, ptr %wide, align 64
  %x = extractelement <16 x i32> %v, i64 3
  %y = load i32, ptr %p
  %s = add i32 %x, %y
  ret i32 %s
}

define i32 @both(i32 %n) noinline {
  %wide = alloca <16 x i32>, align 64
  %small = alloca i32, align 4
  %at = call ptr @llvm.threadlocal.address.p0(ptr @own)
  %o = load i32, ptr %at
  store i32 %n, ptr %small
  call void @change(ptr %small)
  %s = load i32, ptr %small
  %a = insertelement <16 x i32> zeroinitializer, i32 %s, i64 3
  %b = insertelement <16 x i32> %a, i32 %o, i64 9
  store <16 x i32> %b, ptr %wide, align 64
  %r = call i32 @sum(ptr byval(<16 x i32>) align 64 %wide)
  store i32 %r, ptr %at
  call void @change(ptr %at)
  ret i32 %r
}

define i32 @main() {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %r = call i32 @both(i32 %i)
  call i32 (ptr, ...) @printf(ptr @text, i32 %r)
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 40
  br i1 %done, label %out, label %loop
out:
  ret i32 0
}
