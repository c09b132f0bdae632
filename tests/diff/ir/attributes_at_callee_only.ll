; env: OMPVM_INTERPRET=far
; Calls that do not repeat the attributes of their callee's parameters (flang's calls of internal procedures): a static
; chain first, last and between others, on the stack's side of the registers, by `invoke` and in tail position, and
; numbers extended by the caller. The callees named `far` stay interpreted when the rest is compiled, the others do
; not, and each kind calls the other.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@text = private constant [6 x i8] c"%lld\0A\00"
@one = global i64 1
@two = global i64 20
@small = global i8 -3

declare i32 @printf(ptr, ...)
declare i32 @__gxx_personality_v0(...)

define void @show(i64 %x) noinline {
  %r = call i32 (ptr, ...) @printf(ptr @text, i64 %x)
  ret void
}

define i64 @near_first(ptr nest %chain, i64 %x) noinline {
  %n = load volatile i64, ptr %chain
  %r = add i64 %n, %x
  ret i64 %r
}

define i64 @far_first(ptr nest %chain, i64 %x) noinline {
  %n = load volatile i64, ptr %chain
  %d = mul i64 %n, 2
  %r = call i64 @near_first(ptr %chain, i64 %d)
  %s = add i64 %r, %x
  ret i64 %s
}

define i64 @far_last(i64 %x, ptr nest %chain) noinline {
  %r = call i64 @far_first(ptr %chain, i64 %x)
  ret i64 %r
}

define double @far_many(i64 %a, double %b, ptr %p, i64 %c, i64 %d, ptr nest %chain, i64 %e, i64 %f, i64 %g) noinline {
  %n = load volatile i64, ptr %chain
  %m = load volatile i64, ptr %p
  %1 = mul i64 %n, %m
  %2 = add i64 %1, %a
  %3 = add i64 %2, %c
  %4 = sub i64 %3, %d
  %5 = mul i64 %4, %e
  %6 = sub i64 %5, %f
  %7 = mul i64 %6, %g
  %8 = sitofp i64 %7 to double
  %9 = fadd double %8, %b
  ret double %9
}

define double @near_many(ptr %p, ptr nest %chain, double %b) noinline {
  %r = call double @far_many(i64 3, double %b, ptr %p, i64 5, i64 7, ptr %chain, i64 11, i64 13, i64 17)
  ret double %r
}

define i64 @far_recursive(i64 %depth, ptr nest %chain) noinline {
  %n = load volatile i64, ptr %chain
  %end = icmp eq i64 %depth, 0
  br i1 %end, label %last, label %again
again:
  %own = alloca i64
  store volatile i64 %depth, ptr %own
  %less = sub i64 %depth, 1
  %r = call i64 @near_recursive(i64 %less, ptr %own)
  %s = add i64 %r, %n
  ret i64 %s
last:
  ret i64 %n
}

define i64 @near_recursive(i64 %depth, ptr nest %chain) noinline {
  %r = tail call i64 @far_recursive(i64 %depth, ptr %chain)
  ret i64 %r
}

define i64 @far_small(i8 signext %s, i8 zeroext %z, i16 signext %h, i1 zeroext %b) noinline {
  %1 = sext i8 %s to i64
  %2 = zext i8 %z to i64
  %3 = sext i16 %h to i64
  %4 = zext i1 %b to i64
  %5 = mul i64 %1, 1000
  %6 = add i64 %5, %2
  %7 = mul i64 %6, 1000
  %8 = add i64 %7, %3
  %9 = mul i64 %8, 2
  %10 = add i64 %9, %4
  ret i64 %10
}

define i64 @near_invoke(ptr nest %chain, i64 %x) noinline personality ptr @__gxx_personality_v0 {
  %r = invoke i64 @far_last(i64 %x, ptr %chain) to label %done unwind label %thrown
done:
  ret i64 %r
thrown:
  %l = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %l
}

define i32 @main() {
  %a = call i64 @near_first(ptr @one, i64 5)
  call void @show(i64 %a)
  %b = call i64 @far_first(ptr @one, i64 5)
  call void @show(i64 %b)
  %c = call i64 @far_last(i64 7, ptr @two)
  call void @show(i64 %c)
  %d = call double @near_many(ptr @two, ptr @one, double 5.000000e-01)
  %e = fptosi double %d to i64
  call void @show(i64 %e)
  %f = call i64 @near_recursive(i64 9, ptr @two)
  call void @show(i64 %f)
  %v = load volatile i8, ptr @small
  %h = sext i8 %v to i16
  %z = icmp slt i8 %v, 0
  %g = call i64 @far_small(i8 %v, i8 %v, i16 %h, i1 %z)
  call void @show(i64 %g)
  %i = call i64 @near_invoke(ptr @two, i64 100)
  call void @show(i64 %i)
  br label %loop
loop:
  %n = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi i64 [ 0, %0 ], [ %more, %loop ]
  %one = call i64 @far_first(ptr @two, i64 %n)
  %other = call i64 @near_first(ptr @one, i64 %one)
  %more = add i64 %sum, %other
  %next = add i64 %n, 1
  %go = icmp slt i64 %next, 20000
  br i1 %go, label %loop, label %end
end:
  call void @show(i64 %sum)
  ret i32 0
}
