; env: OMPVM_INTERPRET=far
; Two sides of a call that declare an argument differently and mean the same place natively: a structure by value where
; the callee takes numbers from the stack and the other way around, structures of different sizes, a static chain from
; behind or between, and the hidden result pointer that comes back in rax. The callees named `far` stay interpreted.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%pair = type { i64, i64 }
%triple = type { i64, i64, i64 }
@text = private constant [11 x i8] c"%lld %lld\0A\00"
@p = global %pair { i64 300, i64 5000 }
@t = global %triple { i64 30, i64 500, i64 7000 }

declare i32 @printf(ptr, ...)

define void @show(i64 %x, i64 %y) noinline {
  %r = call i32 (ptr, ...) @printf(ptr @text, i64 %x, i64 %y)
  ret void
}

define i64 @far_numbers(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i64 %f, i64 %g, i64 %h) noinline {
  %1 = sub i64 %a, %f
  %2 = mul i64 %1, %g
  %3 = add i64 %2, %h
  ret i64 %3
}

define i64 @near_numbers(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i64 %f, i64 %g, i64 %h) noinline {
  %1 = sub i64 %f, %a
  %2 = mul i64 %1, %h
  %3 = add i64 %2, %g
  ret i64 %3
}

define i64 @far_structure(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i64 %f, ptr byval(%pair) align 8 %s) noinline {
  %1 = load i64, ptr %s
  %2 = getelementptr i8, ptr %s, i64 8
  %3 = load i64, ptr %2
  %4 = mul i64 %1, %f
  %5 = sub i64 %4, %3
  ret i64 %5
}

define i64 @near_structure(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i64 %f, ptr byval(%pair) align 8 %s) noinline {
  %1 = call i64 @far_structure(i64 %f, i64 %e, i64 %d, i64 %c, i64 %b, i64 %a, ptr byval(%pair) align 8 %s)
  %2 = mul i64 %1, %f
  ret i64 %2
}

define i64 @far_first(ptr byval(%pair) align 8 %s, i64 %a) noinline {
  %1 = load i64, ptr %s
  store i64 0, ptr %s
  %2 = mul i64 %1, %a
  ret i64 %2
}

define void @far_hidden(ptr sret(%pair) align 8 %r, i64 %x) noinline {
  store i64 %x, ptr %r
  %q = getelementptr i8, ptr %r, i64 8
  %y = mul i64 %x, %x
  store i64 %y, ptr %q
  ret void
}

define void @near_hidden(ptr sret(%pair) align 8 %r, i64 %x) noinline {
  %y = add i64 %x, 1
  call void @far_hidden(ptr sret(%pair) align 8 %r, i64 %y)
  ret void
}

define ptr @far_open(ptr %r, i64 %x) noinline {
  store i64 %x, ptr %r
  %q = getelementptr i8, ptr %r, i64 8
  store i64 -1, ptr %q
  ret ptr %r
}

define i64 @far_chain(i64 %x, ptr nest %chain, i64 %y) noinline {
  %n = load i64, ptr %chain
  %1 = mul i64 %x, %n
  %2 = sub i64 %1, %y
  ret i64 %2
}

@numbers = global [2 x ptr] [ptr @far_numbers, ptr @near_numbers]
@structures = global [2 x ptr] [ptr @far_structure, ptr @near_structure]
@hidden = global [2 x ptr] [ptr @far_hidden, ptr @near_hidden]
@open = global ptr @far_open
@first = global ptr @far_first
@chain = global ptr @far_chain

define i64 @pass(i64 %k) noinline {
  %r = alloca %pair, align 8
  %q = getelementptr i8, ptr %r, i64 8
  %1 = getelementptr ptr, ptr @numbers, i64 %k
  %2 = load volatile ptr, ptr %1
  %3 = call i64 %2(i64 9, i64 8, i64 7, i64 6, i64 5, i64 4, ptr byval(%pair) align 8 @p)
  %4 = getelementptr ptr, ptr @structures, i64 %k
  %5 = load volatile ptr, ptr %4
  %6 = call i64 %5(i64 9, i64 8, i64 7, i64 6, i64 5, i64 4, i64 %3, i64 2)
  call void @show(i64 %3, i64 %6)
  %7 = call i64 %5(i64 9, i64 8, i64 7, i64 6, i64 5, i64 4, ptr byval(%triple) align 8 @t)
  %8 = getelementptr ptr, ptr @hidden, i64 %k
  %9 = load volatile ptr, ptr %8
  %10 = call ptr %9(ptr %r, i64 %k)
  %11 = icmp eq ptr %10, %r
  %12 = zext i1 %11 to i64
  call void @show(i64 %7, i64 %12)
  %13 = load i64, ptr %r
  %14 = load i64, ptr %q
  call void @show(i64 %13, i64 %14)
  %15 = load volatile ptr, ptr @open
  call void %15(ptr sret(%pair) align 8 %r, i64 %3)
  %16 = load i64, ptr %r
  %17 = load i64, ptr %q
  call void @show(i64 %16, i64 %17)
  %18 = load volatile ptr, ptr @first
  %19 = call i64 %18(i64 %k, ptr byval(%triple) align 8 @t)
  %20 = load volatile ptr, ptr @chain
  %21 = call i64 %20(i64 5, i64 6, ptr nest @p)
  call void @show(i64 %19, i64 %21)
  %22 = add i64 %19, %21
  ret i64 %22
}

define i32 @main() {
  %direct = call i64 @far_numbers(i64 9, i64 8, i64 7, i64 6, i64 5, i64 4, ptr byval(%pair) align 8 @p)
  %other = call i64 @near_structure(i64 9, i64 8, i64 7, i64 6, i64 5, i64 4, i64 10, i64 20)
  call void @show(i64 %direct, i64 %other)
  %a = call i64 @pass(i64 0)
  %b = call i64 @pass(i64 1)
  call void @show(i64 %a, i64 %b)
  br label %loop
loop:
  %n = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi i64 [ 0, %0 ], [ %more, %loop ]
  %k = and i64 %n, 1
  %1 = getelementptr ptr, ptr @numbers, i64 %k
  %2 = load volatile ptr, ptr %1
  %3 = call i64 %2(i64 %n, i64 8, i64 7, i64 6, i64 5, i64 4, ptr byval(%pair) align 8 @p)
  %4 = getelementptr ptr, ptr @structures, i64 %k
  %5 = load volatile ptr, ptr %4
  %6 = call i64 %5(i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 %3, i64 %n)
  %more = add i64 %sum, %6
  %next = add i64 %n, 1
  %go = icmp slt i64 %next, 20000
  br i1 %go, label %loop, label %end
end:
  call void @show(i64 %sum, i64 0)
  ret i32 0
}
