; llvm.vector.reverse, insert, extract, interleave2, deinterleave2, stepvector and get.active.lane.mask.
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
define internal void @v4(<4 x i32> %v) noinline {
  %a = extractelement <4 x i32> %v, i32 0
  %b = extractelement <4 x i32> %v, i32 1
  %c = extractelement <4 x i32> %v, i32 2
  %d = extractelement <4 x i32> %v, i32 3
  %az = zext i32 %a to i64
  %bz = zext i32 %b to i64
  %cz = zext i32 %c to i64
  %dz = zext i32 %d to i64
  call void @p(i64 %az)
  call void @p(i64 %bz)
  call void @p(i64 %cz)
  call void @p(i64 %dz)
  ret void
}
@g = internal global <4 x i32> <i32 10, i32 20, i32 30, i32 40>
@n = internal global i64 2
declare <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32>)
declare <8 x i32> @llvm.vector.insert.v8i32.v4i32(<8 x i32>, <4 x i32>, i64)
declare <4 x i32> @llvm.vector.extract.v4i32.v8i32(<8 x i32>, i64)
declare <8 x i32> @llvm.vector.interleave2.v8i32(<4 x i32>, <4 x i32>)
declare {<4 x i32>, <4 x i32>} @llvm.vector.deinterleave2.v8i32(<8 x i32>)
declare <4 x i32> @llvm.stepvector.v4i32()
declare <4 x i1> @llvm.get.active.lane.mask.v4i1.i64(i64, i64)
define i32 @main() {
  %v = load volatile <4 x i32>, ptr @g
  %n = load volatile i64, ptr @n
  %r = call <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32> %v)
  call void @v4(<4 x i32> %r)
  %w = call <8 x i32> @llvm.vector.insert.v8i32.v4i32(<8 x i32> zeroinitializer, <4 x i32> %v, i64 4)
  %w2 = call <8 x i32> @llvm.vector.insert.v8i32.v4i32(<8 x i32> %w, <4 x i32> %r, i64 0)
  %e = call <4 x i32> @llvm.vector.extract.v4i32.v8i32(<8 x i32> %w2, i64 4)
  call void @v4(<4 x i32> %e)
  %il = call <8 x i32> @llvm.vector.interleave2.v8i32(<4 x i32> %v, <4 x i32> %r)
  %d = call {<4 x i32>, <4 x i32>} @llvm.vector.deinterleave2.v8i32(<8 x i32> %il)
  %d1 = extractvalue {<4 x i32>, <4 x i32>} %d, 1
  call void @v4(<4 x i32> %d1)
  %lo = call <4 x i32> @llvm.vector.extract.v4i32.v8i32(<8 x i32> %il, i64 0)
  call void @v4(<4 x i32> %lo)
  %s = call <4 x i32> @llvm.stepvector.v4i32()
  %sv = add <4 x i32> %s, %v
  call void @v4(<4 x i32> %sv)
  %m = call <4 x i1> @llvm.get.active.lane.mask.v4i1.i64(i64 0, i64 %n)
  %sel = select <4 x i1> %m, <4 x i32> %v, <4 x i32> zeroinitializer
  call void @v4(<4 x i32> %sel)
  call void @nlp()
  ret i32 0
}
