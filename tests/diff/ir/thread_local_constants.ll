; flags: -pthread
; Addresses of thread_local variables as plain constants: operands, parts of other constants, phis, switches, arguments.
target triple = "x86_64-pc-linux-gnu"
%pair = type { ptr, i64 }
@line = private unnamed_addr constant [12 x i8] c"%-10s %lld\0A\00"
@n1 = private unnamed_addr constant [6 x i8] c"plain\00"
@n2 = private unnamed_addr constant [4 x i8] c"gep\00"
@n3 = private unnamed_addr constant [4 x i8] c"phi\00"
@n4 = private unnamed_addr constant [7 x i8] c"switch\00"
@n5 = private unnamed_addr constant [7 x i8] c"struct\00"
@n6 = private unnamed_addr constant [7 x i8] c"vector\00"
@n7 = private unnamed_addr constant [9 x i8] c"argument\00"
@n8 = private unnamed_addr constant [7 x i8] c"select\00"
@n9 = private unnamed_addr constant [6 x i8] c"alias\00"
@n10 = private unnamed_addr constant [6 x i8] c"weak?\00"
@n11 = private unnamed_addr constant [7 x i8] c"thread\00"
@a = internal thread_local global i64 10
@b = internal thread_local(initialexec) global [4 x i64] [i64 1, i64 2, i64 3, i64 4]
@c = thread_local(localexec) global %pair zeroinitializer
@also = internal thread_local alias [4 x i64], ptr @b
@keep = internal global ptr null
declare i32 @printf(ptr, ...)
declare extern_weak void @nobody_has_this()
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)

define internal i64 @plain() noinline {
  %v = load i64, ptr @a
  %w = add i64 %v, 1
  store i64 %w, ptr @a
  %x = atomicrmw add ptr @a, i64 100 seq_cst
  ret i64 %x
}
define internal i64 @gep() noinline {
  store i64 30, ptr getelementptr inbounds ([4 x i64], ptr @b, i64 0, i64 2)
  %i = ptrtoint ptr getelementptr (i8, ptr @b, i64 24) to i64
  %j = sub i64 %i, ptrtoint (ptr @b to i64)
  %v = load i64, ptr getelementptr (i8, ptr getelementptr (i8, ptr @b, i64 32), i64 -16)
  %r = add i64 %v, %j
  ret i64 %r
}
define internal i64 @phi(i1 %which) noinline {
entry:
  br i1 %which, label %one, label %two
one:
  br label %join
two:
  br label %join
join:
  %p = phi ptr [ @a, %one ], [ getelementptr (i8, ptr @b, i64 8), %two ]
  %v = load i64, ptr %p
  ret i64 %v
}
define internal i64 @choice(i32 %n) noinline {
entry:
  switch i32 %n, label %none [ i32 0, label %join
                               i32 1, label %join
                               i32 2, label %other ]
other:
  br label %join
none:
  ret i64 -1
join:
  %p = phi ptr [ @b, %entry ], [ @b, %entry ], [ @a, %other ]
  %v = load i64, ptr %p
  ret i64 %v
}
define internal i64 @structure() noinline {
  store %pair { ptr @a, i64 7 }, ptr @c
  %p = load ptr, ptr @c
  %v = load i64, ptr %p
  %n = load i64, ptr getelementptr (%pair, ptr @c, i64 0, i32 1)
  %r = add i64 %v, %n
  ret i64 %r
}
define internal i64 @vector(i32 %lane) noinline {
  %p = extractelement <2 x ptr> <ptr @a, ptr getelementptr (i8, ptr @b, i64 24)>, i32 %lane
  %v = load i64, ptr %p
  ret i64 %v
}
define internal i64 @read(ptr %p, ptr byval([4 x i64]) %copy) noinline {
  %v = load i64, ptr %p
  %w = load i64, ptr %copy
  %r = add i64 %v, %w
  store i64 0, ptr %copy
  ret i64 %r
}
define internal i64 @argument() noinline {
  %r = call i64 @read(ptr @a, ptr byval([4 x i64]) @b)
  %v = load i64, ptr @b
  %s = add i64 %r, %v
  ret i64 %s
}
define internal i64 @pick(i1 %which) noinline {
  %p = select i1 %which, ptr @a, ptr getelementptr (i8, ptr @b, i64 16)
  %same = icmp eq ptr %p, @a
  %one = zext i1 %same to i64
  %v = load i64, ptr %p
  %r = add i64 %v, %one
  ret i64 %r
}
define internal i64 @other_name() noinline {
  %v = load i64, ptr getelementptr (i8, ptr @also, i64 16)
  ret i64 %v
}
define internal i64 @weak() noinline {
  %there = icmp ne ptr @nobody_has_this, null
  %p = select i1 %there, ptr null, ptr @b
  %v = load i64, ptr %p
  ret i64 %v
}
define internal ptr @other(ptr %given) noinline {
  %mine = icmp ne ptr %given, @a
  %i = zext i1 %mine to i64
  %v = load i64, ptr @a
  %s = add i64 %v, %i
  store i64 %s, ptr %given
  store i64 5, ptr @a
  ret ptr null
}
define internal i64 @thread() noinline {
  %id = alloca i64
  store ptr @a, ptr @keep
  %r = call i32 @pthread_create(ptr %id, ptr null, ptr @other, ptr @a)
  %t = load i64, ptr %id
  %j = call i32 @pthread_join(i64 %t, ptr null)
  %p = load ptr, ptr @keep
  %v = load i64, ptr %p
  ret i64 %v
}
define internal void @show(ptr %name, i64 %v) noinline {
  %r = call i32 (ptr, ...) @printf(ptr @line, ptr %name, i64 %v)
  ret void
}
define i32 @main() {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %r1 = call i64 @plain()
  call void @show(ptr @n1, i64 %r1)
  %r2 = call i64 @gep()
  call void @show(ptr @n2, i64 %r2)
  %odd = trunc i64 %i to i1
  %r3 = call i64 @phi(i1 %odd)
  call void @show(ptr @n3, i64 %r3)
  %n = trunc i64 %i to i32
  %r4 = call i64 @choice(i32 %n)
  call void @show(ptr @n4, i64 %r4)
  %r5 = call i64 @structure()
  call void @show(ptr @n5, i64 %r5)
  %lane = and i32 %n, 1
  %r6 = call i64 @vector(i32 %lane)
  call void @show(ptr @n6, i64 %r6)
  %r7 = call i64 @argument()
  call void @show(ptr @n7, i64 %r7)
  %r8 = call i64 @pick(i1 %odd)
  call void @show(ptr @n8, i64 %r8)
  %r9 = call i64 @other_name()
  call void @show(ptr @n9, i64 %r9)
  %r10 = call i64 @weak()
  call void @show(ptr @n10, i64 %r10)
  %r11 = call i64 @thread()
  call void @show(ptr @n11, i64 %r11)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 4
  br i1 %more, label %loop, label %done
done:
  ret i32 0
}
