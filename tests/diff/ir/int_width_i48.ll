; exit: 48
; Arithmetic, shifts, division, comparison and memory of i48.
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
@v = internal global [10 x i48] [i48 0, i48 1, i48 2, i48 3, i48 281474976710655, i48 281474976710654, i48 140737488355328, i48 140737488355327, i48 93824992236885, i48 223928981472033]
define internal void @show(i48 %x) noinline {
  %z = zext i48 %x to i64
  call void @p(i64 %z)
  %s = sext i48 %x to i64
  call void @p(i64 %s)
  ret void
}
define internal void @pair(i48 %a, i48 %b) noinline {
  %add = add i48 %a, %b
  call void @show(i48 %add)
  %sub = sub i48 %a, %b
  call void @show(i48 %sub)
  %mul = mul i48 %a, %b
  call void @show(i48 %mul)
  %and = and i48 %a, %b
  call void @show(i48 %and)
  %or = or i48 %a, %b
  call void @show(i48 %or)
  %xor = xor i48 %a, %b
  call void @show(i48 %xor)
  %amt0 = urem i48 %b, 48
  %shl = shl i48 %a, %amt0
  call void @show(i48 %shl)
  %lshr = lshr i48 %a, %amt0
  call void @show(i48 %lshr)
  %ashr = ashr i48 %a, %amt0
  call void @show(i48 %ashr)
  %bz = icmp eq i48 %b, 0
  %d = select i1 %bz, i48 1, i48 %b
  %udiv = udiv i48 %a, %d
  call void @show(i48 %udiv)
  %urem = urem i48 %a, %d
  call void @show(i48 %urem)
  %m1 = icmp eq i48 %d, -1
  %sd = select i1 %m1, i48 2, i48 %d
  %sdiv = sdiv i48 %a, %sd
  call void @show(i48 %sdiv)
  %srem = srem i48 %a, %sd
  call void @show(i48 %srem)
  %c0 = icmp eq i48 %a, %b
  %e0 = zext i1 %c0 to i64
  %t0 = shl i64 %e0, 0
  %o0 = or i64 0, %t0
  %c1 = icmp ne i48 %a, %b
  %e1 = zext i1 %c1 to i64
  %t1 = shl i64 %e1, 1
  %o1 = or i64 %o0, %t1
  %c2 = icmp ugt i48 %a, %b
  %e2 = zext i1 %c2 to i64
  %t2 = shl i64 %e2, 2
  %o2 = or i64 %o1, %t2
  %c3 = icmp uge i48 %a, %b
  %e3 = zext i1 %c3 to i64
  %t3 = shl i64 %e3, 3
  %o3 = or i64 %o2, %t3
  %c4 = icmp ult i48 %a, %b
  %e4 = zext i1 %c4 to i64
  %t4 = shl i64 %e4, 4
  %o4 = or i64 %o3, %t4
  %c5 = icmp ule i48 %a, %b
  %e5 = zext i1 %c5 to i64
  %t5 = shl i64 %e5, 5
  %o5 = or i64 %o4, %t5
  %c6 = icmp sgt i48 %a, %b
  %e6 = zext i1 %c6 to i64
  %t6 = shl i64 %e6, 6
  %o6 = or i64 %o5, %t6
  %c7 = icmp sge i48 %a, %b
  %e7 = zext i1 %c7 to i64
  %t7 = shl i64 %e7, 7
  %o7 = or i64 %o6, %t7
  %c8 = icmp slt i48 %a, %b
  %e8 = zext i1 %c8 to i64
  %t8 = shl i64 %e8, 8
  %o8 = or i64 %o7, %t8
  %c9 = icmp sle i48 %a, %b
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
  %pa = getelementptr [10 x i48], ptr @v, i64 0, i64 %i
  %pb = getelementptr [10 x i48], ptr @v, i64 0, i64 %j
  %a = load volatile i48, ptr %pa
  %b = load volatile i48, ptr %pb
  call void @pair(i48 %a, i48 %b)
  %j1 = add i64 %j, 1
  %jd = icmp eq i64 %j1, 10
  br i1 %jd, label %on, label %oj
on:
  %i1 = add i64 %i, 1
  %id = icmp eq i64 %i1, 10
  br i1 %id, label %end, label %oi
end:
  ret i32 48
}
