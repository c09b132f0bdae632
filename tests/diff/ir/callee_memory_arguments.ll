; env: OMPVM_INTERPRET=far
; flags: -lstdc++
; byval, sret and inreg that only the callee declares. A direct call takes them from there, so the callee gets a copy,
; whatever tiers the two sides are in. The callees named `far` stay interpreted where the rest is compiled.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%pair = type { i64, i64 }
%mixed = type { i8, double, [3 x i32] }
@text = private constant [11 x i8] c"%lld %lld\0A\00"
@g = global %pair { i64 3, i64 5 }
@m = global %mixed { i8 7, double 2.500000e+00, [3 x i32] [i32 1, i32 2, i32 3] }

declare i32 @printf(ptr, ...)
declare i32 @__gxx_personality_v0(...)

define void @show(i64 %x, i64 %y) noinline {
  %r = call i32 (ptr, ...) @printf(ptr @text, i64 %x, i64 %y)
  ret void
}

define void @show_g() noinline {
  %a = load volatile i64, ptr @g
  %q = getelementptr i8, ptr @g, i64 8
  %b = load volatile i64, ptr %q
  call void @show(i64 %a, i64 %b)
  ret void
}

define i64 @far_one(ptr byval(%pair) align 8 %p) noinline {
  %a = load volatile i64, ptr %p
  %n = add i64 %a, 100
  store volatile i64 %n, ptr %p
  %m = load volatile i64, ptr %p
  ret i64 %m
}

define i64 @near_one(ptr byval(%pair) align 8 %p) noinline {
  %a = load volatile i64, ptr %p
  %n = add i64 %a, 10
  store volatile i64 %n, ptr %p
  %r = call i64 @far_one(ptr %p)
  %m = load volatile i64, ptr %p
  %s = mul i64 %m, %r
  ret i64 %s
}

define void @far_result(ptr sret(%pair) align 8 %r, i64 inreg %x, ptr byval(%pair) align 16 %p, i64 %y) noinline {
  %a = load volatile i64, ptr %p
  %b = mul i64 %a, %x
  store volatile i64 %b, ptr %p
  store i64 %b, ptr %r
  %q = getelementptr i8, ptr %r, i64 8
  store i64 %y, ptr %q
  ret void
}

define void @near_result(ptr sret(%pair) align 8 %r, i64 inreg %x, ptr byval(%pair) align 16 %p, i64 %y) noinline {
  %more = add i64 %x, 1
  store volatile i64 -1, ptr %p
  call void @far_result(ptr %r, i64 %more, ptr %p, i64 %y)
  ret void
}

define i64 @far_many(i64 %a, i64 %b, double %c, ptr byval(%mixed) align 8 %p, i64 %d, i64 %e, i64 %f, i64 %g, i64 %h, ptr byval(%pair) %q, i64 %i) noinline {
  %1 = load volatile i8, ptr %p
  store volatile i8 1, ptr %p
  %2 = getelementptr %mixed, ptr %p, i64 0, i32 2, i64 2
  %3 = load volatile i32, ptr %2
  store volatile i32 0, ptr %2
  %4 = load volatile i64, ptr %q
  store volatile i64 0, ptr %q
  %5 = sext i8 %1 to i64
  %6 = sext i32 %3 to i64
  %7 = fptosi double %c to i64
  %8 = mul i64 %5, %a
  %9 = add i64 %8, %b
  %10 = mul i64 %9, %6
  %11 = add i64 %10, %7
  %12 = mul i64 %11, %d
  %13 = add i64 %12, %e
  %14 = sub i64 %13, %f
  %15 = mul i64 %14, %g
  %16 = sub i64 %15, %h
  %17 = mul i64 %16, %4
  %18 = sub i64 %17, %i
  ret i64 %18
}

define i64 @near_invoke(i64 %x) noinline personality ptr @__gxx_personality_v0 {
  %r = invoke i64 @near_one(ptr @g) to label %done unwind label %thrown
done:
  %s = add i64 %r, %x
  ret i64 %s
thrown:
  %l = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %l
}

define i64 @near_tail(ptr %p) noinline {
  %r = tail call i64 @far_one(ptr %p)
  ret i64 %r
}

define i32 @main() {
  %r = alloca %pair, align 8
  %v = call i64 @far_one(ptr @g)
  %w = call i64 @near_one(ptr @g)
  call void @show(i64 %v, i64 %w)
  call void @show_g()
  call void @far_result(ptr %r, i64 7, ptr @g, i64 9)
  %a = load i64, ptr %r
  %q = getelementptr i8, ptr %r, i64 8
  %b = load i64, ptr %q
  call void @show(i64 %a, i64 %b)
  call void @near_result(ptr %r, i64 7, ptr @g, i64 11)
  %c = load i64, ptr %r
  %d = load i64, ptr %q
  call void @show(i64 %c, i64 %d)
  call void @show_g()
  %e = call i64 @far_many(i64 2, i64 3, double 4.500000e+00, ptr @m, i64 5, i64 6, i64 7, i64 8, i64 9, ptr @g, i64 10)
  %f = call i64 @far_many(i64 2, i64 3, double 4.500000e+00, ptr @m, i64 5, i64 6, i64 7, i64 8, i64 9, ptr @g, i64 10)
  call void @show(i64 %e, i64 %f)
  %h = call i64 @near_invoke(i64 1000)
  %i = call i64 @near_tail(ptr @g)
  call void @show(i64 %h, i64 %i)
  br label %loop
loop:
  %n = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi i64 [ 0, %0 ], [ %more, %loop ]
  %one = call i64 @far_one(ptr @g)
  %other = call i64 @near_one(ptr @g)
  %both = add i64 %one, %other
  %more = add i64 %sum, %both
  %next = add i64 %n, 1
  %go = icmp slt i64 %next, 20000
  br i1 %go, label %loop, label %end
end:
  call void @show(i64 %sum, i64 0)
  call void @show_g()
  ret i32 0
}
