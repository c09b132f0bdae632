; Vectors of pointers, vector casts of every kind, vector select and comparisons, bitcasts of odd shapes.
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
@arr = internal global [8 x i16] [i16 1, i16 -2, i16 3, i16 -4, i16 5, i16 -6, i16 7, i16 -8], align 16
define i32 @main() {
  %v = load volatile <8 x i16>, ptr @arr, align 16
  %s = sext <8 x i16> %v to <8 x i32>
  %z = zext <8 x i16> %v to <8 x i32>
  %f = sitofp <8 x i32> %s to <8 x float>
  %h = fmul <8 x float> %f, splat (float 1.5)
  %b = fptosi <8 x float> %h to <8 x i16>
  %t = trunc <8 x i32> %z to <8 x i8>
  %q = bitcast <8 x i8> %t to i64
  call void @p(i64 %q)
  %q2 = bitcast <8 x i16> %b to <2 x i64>
  %q20 = extractelement <2 x i64> %q2, i32 0
  %q21 = extractelement <2 x i64> %q2, i32 1
  call void @p(i64 %q20)
  call void @p(i64 %q21)
  %c = icmp slt <8 x i16> %v, zeroinitializer
  %m = bitcast <8 x i1> %c to i8
  %mz = zext i8 %m to i64
  call void @p(i64 %mz)
  %sel = select <8 x i1> %c, <8 x i32> %s, <8 x i32> splat (i32 100)
  %e = extractelement <8 x i32> %sel, i32 0
  %e1 = extractelement <8 x i32> %sel, i32 1
  %ez = zext i32 %e to i64
  %ez1 = zext i32 %e1 to i64
  call void @p(i64 %ez)
  call void @p(i64 %ez1)
  %ps = getelementptr [8 x i16], ptr @arr, <2 x i64> zeroinitializer, <2 x i64> <i64 3, i64 6>
  %p0 = extractelement <2 x ptr> %ps, i32 0
  %p1 = extractelement <2 x ptr> %ps, i32 1
  %x0 = load i16, ptr %p0
  %x1 = load i16, ptr %p1
  %x0z = zext i16 %x0 to i64
  %x1z = zext i16 %x1 to i64
  call void @p(i64 %x0z)
  call void @p(i64 %x1z)
  %pi = ptrtoint <2 x ptr> %ps to <2 x i64>
  %d0 = extractelement <2 x i64> %pi, i32 0
  %d1 = extractelement <2 x i64> %pi, i32 1
  %d = sub i64 %d1, %d0
  call void @p(i64 %d)
  %i4 = bitcast i64 %q to <16 x i4>
  %n = extractelement <16 x i4> %i4, i32 3
  %nz = zext i4 %n to i64
  call void @p(i64 %nz)
  call void @nlp()
  ret i32 0
}
