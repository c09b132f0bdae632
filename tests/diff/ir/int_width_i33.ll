; exit: 33
; Arithmetic, shifts, division, comparison and memory of i33.
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
@v = internal global [10 x i33] [i33 0, i33 1, i33 2, i33 3, i33 8589934591, i33 8589934590, i33 4294967296, i33 4294967295, i33 5726623061, i33 6566527777]
define internal void @show(i33 %x) noinline {
  %z = zext i33 %x to i64
  call void @p(i64 %z)
  %s = sext i33 %x to i64
  call void @p(i64 %s)
  ret void
}
define internal void @pair(i33 %a, i33 %b) noinline {
  %add = add i33 %a, %b
  call void @show(i33 %add)
  %sub = sub i33 %a, %b
  call void @show(i33 %sub)
  %mul = mul i33 %a, %b
  call void @show(i33 %mul)
  %and = and i33 %a, %b
  call void @show(i33 %and)
  %or = or i33 %a, %b
  call void @show(i33 %or)
  %xor = xor i33 %a, %b
  call void @show(i33 %xor)
  %amt0 = urem i33 %b, 33
  %shl = shl i33 %a, %amt0
  call void @show(i33 %shl)
  %lshr = lshr i33 %a, %amt0
  call void @show(i33 %lshr)
  %ashr = ashr i33 %a, %amt0
  call void @show(i33 %ashr)
  %bz = icmp eq i33 %b, 0
  %d = select i1 %bz, i33 1, i33 %b
  %udiv = udiv i33 %a, %d
  call void @show(i33 %udiv)
  %urem = urem i33 %a, %d
  call void @show(i33 %urem)
  %m1 = icmp eq i33 %d, -1
  %sd = select i1 %m1, i33 2, i33 %d
  %sdiv = sdiv i33 %a, %sd
  call void @show(i33 %sdiv)
  %srem = srem i33 %a, %sd
  call void @show(i33 %srem)
  %c0 = icmp eq i33 %a, %b
  %e0 = zext i1 %c0 to i64
  %t0 = shl i64 %e0, 0
  %o0 = or i64 0, %t0
  %c1 = icmp ne i33 %a, %b
  %e1 = zext i1 %c1 to i64
  %t1 = shl i64 %e1, 1
  %o1 = or i64 %o0, %t1
  %c2 = icmp ugt i33 %a, %b
  %e2 = zext i1 %c2 to i64
  %t2 = shl i64 %e2, 2
  %o2 = or i64 %o1, %t2
  %c3 = icmp uge i33 %a, %b
  %e3 = zext i1 %c3 to i64
  %t3 = shl i64 %e3, 3
  %o3 = or i64 %o2, %t3
  %c4 = icmp ult i33 %a, %b
  %e4 = zext i1 %c4 to i64
  %t4 = shl i64 %e4, 4
  %o4 = or i64 %o3, %t4
  %c5 = icmp ule i33 %a, %b
  %e5 = zext i1 %c5 to i64
  %t5 = shl i64 %e5, 5
  %o5 = or i64 %o4, %t5
  %c6 = icmp sgt i33 %a, %b
  %e6 = zext i1 %c6 to i64
  %t6 = shl i64 %e6, 6
  %o6 = or i64 %o5, %t6
  %c7 = icmp sge i33 %a, %b
  %e7 = zext i1 %c7 to i64
  %t7 = shl i64 %e7, 7
  %o7 = or i64 %o6, %t7
  %c8 = icmp slt i33 %a, %b
  %e8 = zext i1 %c8 to i64
  %t8 = shl i64 %e8, 8
  %o8 = or i64 %o7, %t8
  %c9 = icmp sle i33 %a, %b
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
  %pa = getelementptr [10 x i33], ptr @v, i64 0, i64 %i
  %pb = getelementptr [10 x i33], ptr @v, i64 0, i64 %j
  %a = load volatile i33, ptr %pa
  %b = load volatile i33, ptr %pb
  call void @pair(i33 %a, i33 %b)
  %j1 = add i64 %j, 1
  %jd = icmp eq i64 %j1, 10
  br i1 %jd, label %on, label %oj
on:
  %i1 = add i64 %i, 1
  %id = icmp eq i64 %i1, 10
  br i1 %id, label %end, label %oi
end:
  ret i32 33
}
