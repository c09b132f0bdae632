; Loads and stores of i1, i7, i24, i65, vectors of i1 and three-element vectors, packed structs, unaligned.
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
@b = internal global [64 x i8] zeroinitializer, align 16
define i32 @main() {
entry:
  store volatile i1 true, ptr @b
  store i7 -1, ptr getelementptr (i8, ptr @b, i64 1)
  store i24 -2, ptr getelementptr (i8, ptr @b, i64 2), align 1
  store i65 -3, ptr getelementptr (i8, ptr @b, i64 16), align 1
  store <8 x i1> <i1 true, i1 false, i1 true, i1 false, i1 false, i1 false, i1 false, i1 true>, ptr getelementptr (i8, ptr @b, i64 32)
  store <3 x i32> <i32 1, i32 2, i32 3>, ptr getelementptr (i8, ptr @b, i64 33), align 1
  store <{ i8, i64 }> <{ i8 9, i64 -10 }>, ptr getelementptr (i8, ptr @b, i64 46), align 1
  %r1 = load volatile i1, ptr @b
  %z1 = zext i1 %r1 to i64
  call void @p(i64 %z1)
  %r7 = load volatile i7, ptr getelementptr (i8, ptr @b, i64 1)
  %z7 = sext i7 %r7 to i64
  call void @p(i64 %z7)
  %r24 = load volatile i24, ptr getelementptr (i8, ptr @b, i64 2), align 1
  %z24 = sext i24 %r24 to i64
  call void @p(i64 %z24)
  %r65 = load volatile i65, ptr getelementptr (i8, ptr @b, i64 16), align 1
  %z65 = trunc i65 %r65 to i64
  call void @p(i64 %z65)
  %h65 = ashr i65 %r65, 63
  %y65 = trunc i65 %h65 to i64
  call void @p(i64 %y65)
  %rv = load <8 x i1>, ptr getelementptr (i8, ptr @b, i64 32)
  %bv = bitcast <8 x i1> %rv to i8
  %zv = zext i8 %bv to i64
  call void @p(i64 %zv)
  %r3 = load <3 x i32>, ptr getelementptr (i8, ptr @b, i64 33), align 1
  %e3 = extractelement <3 x i32> %r3, i32 2
  %z3 = zext i32 %e3 to i64
  call void @p(i64 %z3)
  %ps = load i64, ptr getelementptr (i8, ptr @b, i64 47), align 1
  call void @p(i64 %ps)
  br label %l
l:
  %i = phi i64 [ 0, %entry ], [ %i1, %l ]
  %q = getelementptr i8, ptr @b, i64 %i
  %x = load volatile i8, ptr %q
  %skip = icmp eq i64 %i, 24
  %xx = select i1 %skip, i8 0, i8 %x
  %z = zext i8 %xx to i64
  call void @p(i64 %z)
  %i1 = add i64 %i, 1
  %c = icmp eq i64 %i1, 64
  br i1 %c, label %e, label %l
e:
  call void @nlp()
  ret i32 0
}
