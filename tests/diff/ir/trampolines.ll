; Kinds of trampolines: on the stack and the heap, rebuilt in place, by recursion, passed to native code, with many kinds of
; arguments behind the static chain.

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@text = private constant [6 x i8] c"%ld,\0A\00"
@real = private constant [6 x i8] c"%.2f\0A\00"
@list = global [6 x i32] [i32 4, i32 -3, i32 9, i32 0, i32 12, i32 -7]

declare i32 @printf(ptr, ...)
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @qsort(ptr, i64, i64, ptr)
declare void @llvm.init.trampoline(ptr, ptr, ptr)
declare ptr @llvm.adjust.trampoline(ptr)

define void @show(i64 %x) noinline {
  %r = call i32 (ptr, ...) @printf(ptr @text, i64 %x)
  ret void
}

; A function that adds the number that its chain points to.
define i64 @add(ptr nest %chain, i64 %x) noinline {
  %n = load i64, ptr %chain
  %r = add i64 %n, %x
  %c = add i64 %n, 1
  store i64 %c, ptr %chain
  ret i64 %r
}

define double @many(i32 %a, double %b, ptr nest %chain, i64 %c, float %d, i64 %e, i64 %f, i64 %g, i64 %h, i64 %i) noinline {
  %n = load double, ptr %chain
  %aa = sitofp i32 %a to double
  %cc = sitofp i64 %c to double
  %dd = fpext float %d to double
  %sum = add i64 %e, %f
  %sum2 = add i64 %sum, %g
  %sum3 = add i64 %sum2, %h
  %sum4 = add i64 %sum3, %i
  %ss = sitofp i64 %sum4 to double
  %r1 = fadd double %n, %aa
  %r2 = fmul double %r1, %b
  %r3 = fadd double %r2, %cc
  %r4 = fadd double %r3, %dd
  %r5 = fadd double %r4, %ss
  ret double %r5
}

define i32 @order(ptr %a, ptr %b, ptr nest %chain) {
  %sign = load i32, ptr %chain
  %x = load i32, ptr %a
  %y = load i32, ptr %b
  %d = sub i32 %x, %y
  %r = mul i32 %d, %sign
  ret i32 %r
}

define i64 @twice(ptr %f, i64 %x) noinline {
  %a = call i64 %f(i64 %x)
  %b = call i64 %f(i64 %a)
  ret i64 %b
}

define i64 @deep(i64 %n, ptr %outer) noinline {
entry:
  %buffer = alloca [32 x i8], align 16
  %chain = alloca i64
  store i64 %n, ptr %chain
  call void @llvm.init.trampoline(ptr %buffer, ptr @add, ptr %chain)
  %f = call ptr @llvm.adjust.trampoline(ptr %buffer)
  %end = icmp eq i64 %n, 0
  br i1 %end, label %last, label %more
more:
  %m = sub i64 %n, 1
  %inner = call i64 @deep(i64 %m, ptr %f)
  %mine = call i64 @twice(ptr %f, i64 %inner)
  ret i64 %mine
last:
  %r = call i64 @twice(ptr %outer, i64 100)
  ret i64 %r
}

define i32 @main() {
entry:
  %buffer = alloca [32 x i8], align 16
  %chain = alloca i64
  store i64 7, ptr %chain
  call void @llvm.init.trampoline(ptr %buffer, ptr @add, ptr %chain)
  %f = call ptr @llvm.adjust.trampoline(ptr %buffer)
  %r1 = call i64 @twice(ptr %f, i64 10)
  call void @show(i64 %r1)
  ; another chain in the same buffer
  %other = alloca i64
  store i64 1000, ptr %other
  call void @llvm.init.trampoline(ptr %buffer, ptr @add, ptr %other)
  %g = call ptr @llvm.adjust.trampoline(ptr %buffer)
  %r2 = call i64 @twice(ptr %g, i64 1)
  call void @show(i64 %r2)
  %d = call i64 @deep(i64 40, ptr %g)
  call void @show(i64 %d)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %sum.next, %loop ]
  store i64 %i, ptr %chain
  call void @llvm.init.trampoline(ptr %buffer, ptr @add, ptr %chain)
  %h = call ptr @llvm.adjust.trampoline(ptr %buffer)
  %v = call i64 @twice(ptr %h, i64 %i)
  %sum.next = add i64 %sum, %v
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 5000
  br i1 %done, label %out, label %loop
out:
  call void @show(i64 %sum.next)
  %constant = alloca double
  store double 2.5, ptr %constant
  call void @llvm.init.trampoline(ptr %buffer, ptr @many, ptr %constant)
  %m = call ptr @llvm.adjust.trampoline(ptr %buffer)
  %w = call double %m(i32 -2, double 3.0, i64 5, float 0.25, i64 1, i64 2, i64 3, i64 4, i64 5)
  %p = call i32 (ptr, ...) @printf(ptr @real, double %w)
  ; a direct call with a chain
  store i64 -50, ptr %chain
  %direct = call i64 @add(ptr nest %chain, i64 8)
  call void @show(i64 %direct)
  %sign = alloca i32
  store i32 -1, ptr %sign
  call void @llvm.init.trampoline(ptr %buffer, ptr @order, ptr %sign)
  %c = call ptr @llvm.adjust.trampoline(ptr %buffer)
  call void @qsort(ptr @list, i64 6, i64 4, ptr %c)
  %first = load i32, ptr @list
  %first64 = sext i32 %first to i64
  call void @show(i64 %first64)
  ret i32 0
}
