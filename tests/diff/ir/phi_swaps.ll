; Phi nodes that swap and rotate values in parallel, phis of constants, critical edges, self loops.
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
define internal i64 @rot(i64 %n) noinline {
entry:
  br label %l
l:
  %a = phi i64 [ 1, %entry ], [ %b, %l ]
  %b = phi i64 [ 2, %entry ], [ %c, %l ]
  %c = phi i64 [ 3, %entry ], [ %a, %l ]
  %x = phi i64 [ 10, %entry ], [ %y, %l ]
  %y = phi i64 [ 20, %entry ], [ %x, %l ]
  %i = phi i64 [ 0, %entry ], [ %i1, %l ]
  %i1 = add i64 %i, 1
  %e = icmp ult i64 %i1, %n
  br i1 %e, label %l, label %out
out:
  %m1 = mul i64 %a, 1000
  %m2 = mul i64 %b, 100
  %m3 = mul i64 %x, 10000
  %s1 = add i64 %m1, %m2
  %s2 = add i64 %s1, %m3
  %s3 = add i64 %s2, %c
  ret i64 %s3
}
define internal i64 @crit(i64 %k) noinline {
entry:
  switch i64 %k, label %join [
    i64 1, label %join
    i64 2, label %mid
    i64 3, label %join
  ]
mid:
  %z = icmp eq i64 %k, 2
  br i1 %z, label %join, label %join
join:
  %v = phi i64 [ 5, %entry ], [ 5, %entry ], [ 5, %entry ], [ 9, %mid ], [ 9, %mid ]
  ret i64 %v
}
define i32 @main() {
entry:
  br label %l
l:
  %i = phi i64 [ 1, %entry ], [ %i1, %l ]
  %r = call i64 @rot(i64 %i)
  call void @p(i64 %r)
  %q = call i64 @crit(i64 %i)
  call void @p(i64 %q)
  %i1 = add i64 %i, 1
  %c = icmp eq i64 %i1, 8
  br i1 %c, label %e, label %l
e:
  call void @nlp()
  ret i32 0
}
