; exit: 7
; Arithmetic, shifts, division, comparison and memory of i7.
target triple = "x86_64-pc-linux-gnu"
declare i32 @printf(ptr, ...)
declare i32 @puts(ptr)
@fmt = private unnamed_addr constant [6 x i8] c"%llx \00"
@fmtn = private unnamed_addr constant [7 x i8] c"%s %d\0A\00"
@nl = private unnamed_addr constant [1 x i8] zeroinitializer
define internal void @p(i64 %v) noinline {
  %r = call i32 (ptr, ...) @printf(ptr @fmt, i64 %v)
  ret void
}
define internal void @nlp() noinline {
  %r = call i32 @puts(ptr @nl)
  ret void
}
@v = internal global [10 x i7] [i7 0, i7 1, i7 2, i7 3, i7 127, i7 126, i7 64, i7 63, i7 85, i7 33]
define internal void @show(i7 %x) noinline {
  %z = zext i7 %x to i64
  call void @p(i64 %z)
  %s = sext i7 %x to i64
  call void @p(i64 %s)
  ret void
}
define internal void @pair(i7 %a, i7 %b) noinline {
  %add = add i7 %a, %b
  call void @show(i7 %add)
  %sub = sub i7 %a, %b
  call void @show(i7 %sub)
  %mul = mul i7 %a, %b
  call void @show(i7 %mul)
  %and = and i7 %a, %b
  call void @show(i7 %and)
  %or = or i7 %a, %b
  call void @show(i7 %or)
  %xor = xor i7 %a, %b
  call void @show(i7 %xor)
  %amt0 = urem i7 %b, 7
  %shl = shl i7 %a, %amt0
  call void @show(i7 %shl)
  %lshr = lshr i7 %a, %amt0
  call void @show(i7 %lshr)
  %ashr = ashr i7 %a, %amt0
  call void @show(i7 %ashr)
  %bz = icmp eq i7 %b, 0
  %d = select i1 %bz, i7 1, i7 %b
  %udiv = udiv i7 %a, %d
  call void @show(i7 %udiv)
  %urem = urem i7 %a, %d
  call void @show(i7 %urem)
  %m1 = icmp eq i7 %d, -1
  %sd = select i1 %m1, i7 2, i7 %d
  %sdiv = sdiv i7 %a, %sd
  call void @show(i7 %sdiv)
  %srem = srem i7 %a, %sd
  call void @show(i7 %srem)
  %c0 = icmp eq i7 %a, %b
  %e0 = zext i1 %c0 to i64
  %t0 = shl i64 %e0, 0
  %o0 = or i64 0, %t0
  %c1 = icmp ne i7 %a, %b
  %e1 = zext i1 %c1 to i64
  %t1 = shl i64 %e1, 1
  %o1 = or i64 %o0, %t1
  %c2 = icmp ugt i7 %a, %b
  %e2 = zext i1 %c2 to i64
  %t2 = shl i64 %e2, 2
  %o2 = or i64 %o1, %t2
  %c3 = icmp uge i7 %a, %b
  %e3 = zext i1 %c3 to i64
  %t3 = shl i64 %e3, 3
  %o3 = or i64 %o2, %t3
  %c4 = icmp ult i7 %a, %b
  %e4 = zext i1 %c4 to i64
  %t4 = shl i64 %e4, 4
  %o4 = or i64 %o3, %t4
  %c5 = icmp ule i7 %a, %b
  %e5 = zext i1 %c5 to i64
  %t5 = shl i64 %e5, 5
  %o5 = or i64 %o4, %t5
  %c6 = icmp sgt i7 %a, %b
  %e6 = zext i1 %c6 to i64
  %t6 = shl i64 %e6, 6
  %o6 = or i64 %o5, %t6
  %c7 = icmp sge i7 %a, %b
  %e7 = zext i1 %c7 to i64
  %t7 = shl i64 %e7, 7
  %o7 = or i64 %o6, %t7
  %c8 = icmp slt i7 %a, %b
  %e8 = zext i1 %c8 to i64
  %t8 = shl i64 %e8, 8
  %o8 = or i64 %o7, %t8
  %c9 = icmp sle i7 %a, %b
  %e9 = zext i1 %c9 to i64
  %t9 = shl i64 %e9, 9
  %o9 = or i64 %o8, %t9
  call void @p(i64 %o9)
  call void @nlp()
  ret void
}
define i32 @main() {
entry:
  br label %oi
oi:
  %i = phi i64 [ 0, %entry ], [ %i1, %on ]
  br label %oj
oj:
  %j = phi i64 [ 0, %oi ], [ %j1, %oj ]
  %pa = getelementptr [10 x i7], ptr @v, i64 0, i64 %i
  %pb = getelementptr [10 x i7], ptr @v, i64 0, i64 %j
  %a = load volatile i7, ptr %pa
  %b = load volatile i7, ptr %pb
  call void @pair(i7 %a, i7 %b)
  %j1 = add i64 %j, 1
  %jd = icmp eq i64 %j1, 10
  br i1 %jd, label %on, label %oj
on:
  %i1 = add i64 %i, 1
  %id = icmp eq i64 %i1, 10
  br i1 %id, label %end, label %oi
end:
  ret i32 7
}
