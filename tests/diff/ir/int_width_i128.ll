; Arithmetic, shifts, division, comparison and memory of i128.
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
@v = internal global [10 x i128] [i128 0, i128 1, i128 2, i128 3, i128 340282366920938463463374607431768211455, i128 340282366920938463463374607431768211454, i128 170141183460469231731687303715884105728, i128 170141183460469231731687303715884105727, i128 113427455640312821154458202477256070485, i128 1512366075204170930115394234220888865]
define internal void @show(i128 %x) noinline {
  %l = trunc i128 %x to i64
  call void @p(i64 %l)
  %sh = lshr i128 %x, 64
  %h = trunc i128 %sh to i64
  call void @p(i64 %h)
  %ash = ashr i128 %x, 60
  %a = trunc i128 %ash to i64
  call void @p(i64 %a)
  ret void
}
define internal void @pair(i128 %a, i128 %b) noinline {
  %add = add i128 %a, %b
  call void @show(i128 %add)
  %sub = sub i128 %a, %b
  call void @show(i128 %sub)
  %mul = mul i128 %a, %b
  call void @show(i128 %mul)
  %and = and i128 %a, %b
  call void @show(i128 %and)
  %or = or i128 %a, %b
  call void @show(i128 %or)
  %xor = xor i128 %a, %b
  call void @show(i128 %xor)
  %amt0 = urem i128 %b, 128
  %shl = shl i128 %a, %amt0
  call void @show(i128 %shl)
  %lshr = lshr i128 %a, %amt0
  call void @show(i128 %lshr)
  %ashr = ashr i128 %a, %amt0
  call void @show(i128 %ashr)
  %bz = icmp eq i128 %b, 0
  %d = select i1 %bz, i128 1, i128 %b
  %udiv = udiv i128 %a, %d
  call void @show(i128 %udiv)
  %urem = urem i128 %a, %d
  call void @show(i128 %urem)
  %m1 = icmp eq i128 %d, -1
  %sd = select i1 %m1, i128 2, i128 %d
  %sdiv = sdiv i128 %a, %sd
  call void @show(i128 %sdiv)
  %srem = srem i128 %a, %sd
  call void @show(i128 %srem)
  %c0 = icmp eq i128 %a, %b
  %e0 = zext i1 %c0 to i64
  %t0 = shl i64 %e0, 0
  %o0 = or i64 0, %t0
  %c1 = icmp ne i128 %a, %b
  %e1 = zext i1 %c1 to i64
  %t1 = shl i64 %e1, 1
  %o1 = or i64 %o0, %t1
  %c2 = icmp ugt i128 %a, %b
  %e2 = zext i1 %c2 to i64
  %t2 = shl i64 %e2, 2
  %o2 = or i64 %o1, %t2
  %c3 = icmp uge i128 %a, %b
  %e3 = zext i1 %c3 to i64
  %t3 = shl i64 %e3, 3
  %o3 = or i64 %o2, %t3
  %c4 = icmp ult i128 %a, %b
  %e4 = zext i1 %c4 to i64
  %t4 = shl i64 %e4, 4
  %o4 = or i64 %o3, %t4
  %c5 = icmp ule i128 %a, %b
  %e5 = zext i1 %c5 to i64
  %t5 = shl i64 %e5, 5
  %o5 = or i64 %o4, %t5
  %c6 = icmp sgt i128 %a, %b
  %e6 = zext i1 %c6 to i64
  %t6 = shl i64 %e6, 6
  %o6 = or i64 %o5, %t6
  %c7 = icmp sge i128 %a, %b
  %e7 = zext i1 %c7 to i64
  %t7 = shl i64 %e7, 7
  %o7 = or i64 %o6, %t7
  %c8 = icmp slt i128 %a, %b
  %e8 = zext i1 %c8 to i64
  %t8 = shl i64 %e8, 8
  %o8 = or i64 %o7, %t8
  %c9 = icmp sle i128 %a, %b
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
  %pa = getelementptr [10 x i128], ptr @v, i64 0, i64 %i
  %pb = getelementptr [10 x i128], ptr @v, i64 0, i64 %j
  %a = load volatile i128, ptr %pa
  %b = load volatile i128, ptr %pb
  call void @pair(i128 %a, i128 %b)
  %j1 = add i64 %j, 1
  %jd = icmp eq i64 %j1, 10
  br i1 %jd, label %on, label %oj
on:
  %i1 = add i64 %i, 1
  %id = icmp eq i64 %i1, 10
  br i1 %id, label %end, label %oi
end:
  ret i32 0
}
