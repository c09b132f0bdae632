; exit: 4
; Masked load, store, gather, scatter, expandload and compressstore.
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
@mem = internal global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], align 32
@mask = internal global <4 x i1> <i1 true, i1 false, i1 true, i1 true>
declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, i32, <4 x i1>, <4 x i32>)
declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, i32, <4 x i1>)
declare <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr>, i32, <4 x i1>, <4 x i32>)
declare void @llvm.masked.scatter.v4i32.v4p0(<4 x i32>, <4 x ptr>, i32, <4 x i1>)
declare <4 x i32> @llvm.masked.expandload.v4i32(ptr, <4 x i1>, <4 x i32>)
declare void @llvm.masked.compressstore.v4i32(<4 x i32>, ptr, <4 x i1>)
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)
define internal void @dump() noinline {
entry:
  br label %l
l:
  %i = phi i64 [ 0, %entry ], [ %i1, %l ]
  %q = getelementptr [8 x i32], ptr @mem, i64 0, i64 %i
  %x = load i32, ptr %q
  %z = zext i32 %x to i64
  call void @p(i64 %z)
  %i1 = add i64 %i, 1
  %c = icmp eq i64 %i1, 8
  br i1 %c, label %e, label %l
e:
  call void @nlp()
  ret void
}
define i32 @main() {
  %m = load <4 x i1>, ptr @mask
  %a = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr @mem, i32 4, <4 x i1> %m, <4 x i32> splat (i32 90))
  %h = getelementptr i32, ptr @mem, i64 4
  call void @llvm.masked.store.v4i32.p0(<4 x i32> %a, ptr %h, i32 4, <4 x i1> %m)
  call void @dump()
  %ps = getelementptr i32, ptr @mem, <4 x i64> <i64 7, i64 0, i64 3, i64 2>
  %g = call <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr> %ps, i32 4, <4 x i1> %m, <4 x i32> splat (i32 55))
  %g2 = mul <4 x i32> %g, splat (i32 10)
  %ps2 = getelementptr i32, ptr @mem, <4 x i64> <i64 0, i64 1, i64 1, i64 5>
  call void @llvm.masked.scatter.v4i32.v4p0(<4 x i32> %g2, <4 x ptr> %ps2, i32 4, <4 x i1> %m)
  call void @dump()
  %x = call <4 x i32> @llvm.masked.expandload.v4i32(ptr @mem, <4 x i1> %m, <4 x i32> splat (i32 3))
  call void @llvm.masked.compressstore.v4i32(<4 x i32> %x, ptr %h, <4 x i1> %m)
  call void @dump()
  %s = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %x)
  %z = zext i32 %s to i64
  call void @p(i64 %z)
  %ptrnull = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr null, i32 4, <4 x i1> zeroinitializer, <4 x i32> splat (i32 1))
  %s2 = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %ptrnull)
  call void @nlp()
  ret i32 %s2
}
