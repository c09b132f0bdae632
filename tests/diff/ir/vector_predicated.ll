; Vector-predicated operations: add, mul, store, reduce and merge with a variable length.
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
@g = internal global <4 x i32> <i32 1, i32 -2, i32 30, i32 400>
declare <4 x i32> @llvm.vp.add.v4i32(<4 x i32>, <4 x i32>, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.mul.v4i32(<4 x i32>, <4 x i32>, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.load.v4i32.p0(ptr, <4 x i1>, i32)
declare void @llvm.vp.store.v4i32.p0(<4 x i32>, ptr, <4 x i1>, i32)
declare <4 x i32> @llvm.vp.select.v4i32(<4 x i1>, <4 x i32>, <4 x i32>, i32)
declare <4 x i32> @llvm.vp.merge.v4i32(<4 x i1>, <4 x i32>, <4 x i32>, i32)
declare i32 @llvm.vp.reduce.add.v4i32(i32, <4 x i32>, <4 x i1>, i32)
@len = internal global i32 3
define i32 @main() {
  %n = load volatile i32, ptr @len
  %v = load volatile <4 x i32>, ptr @g
  %s = call <4 x i32> @llvm.vp.add.v4i32(<4 x i32> %v, <4 x i32> splat (i32 5), <4 x i1> splat (i1 true), i32 %n)
  %s0 = extractelement <4 x i32> %s, i32 0
  %s2 = extractelement <4 x i32> %s, i32 2
  %zs0 = zext i32 %s0 to i64
  call void @p(i64 %zs0)
  %zs2 = zext i32 %s2 to i64
  call void @p(i64 %zs2)
  %m = call <4 x i32> @llvm.vp.mul.v4i32(<4 x i32> %v, <4 x i32> %v, <4 x i1> <i1 true, i1 false, i1 true, i1 true>, i32 4)
  %m3 = extractelement <4 x i32> %m, i32 3
  %zm3 = zext i32 %m3 to i64
  call void @p(i64 %zm3)
  %r = call i32 @llvm.vp.reduce.add.v4i32(i32 1000, <4 x i32> %v, <4 x i1> <i1 true, i1 false, i1 true, i1 true>, i32 %n)
  %zr = zext i32 %r to i64
  call void @p(i64 %zr)
  call void @llvm.vp.store.v4i32.p0(<4 x i32> splat (i32 9), ptr @g, <4 x i1> <i1 false, i1 true, i1 true, i1 true>, i32 %n)
  %w = load volatile <4 x i32>, ptr @g
  %w0 = extractelement <4 x i32> %w, i32 0
  %w1 = extractelement <4 x i32> %w, i32 1
  %w3 = extractelement <4 x i32> %w, i32 3
  %zw0 = zext i32 %w0 to i64
  call void @p(i64 %zw0)
  %zw1 = zext i32 %w1 to i64
  call void @p(i64 %zw1)
  %zw3 = zext i32 %w3 to i64
  call void @p(i64 %zw3)
  %mg = call <4 x i32> @llvm.vp.merge.v4i32(<4 x i1> <i1 true, i1 false, i1 true, i1 true>, <4 x i32> %w, <4 x i32> splat (i32 70), i32 %n)
  %g3 = extractelement <4 x i32> %mg, i32 3
  %g1 = extractelement <4 x i32> %mg, i32 1
  %zg3 = zext i32 %g3 to i64
  call void @p(i64 %zg3)
  %zg1 = zext i32 %g1 to i64
  call void @p(i64 %zg1)
  call void @nlp()
  ret i32 0
}
