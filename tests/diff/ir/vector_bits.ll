; Elementwise counts and byte orders on vectors.
@fmt = constant [14 x i8] c"%lx %lx %x %x\00"
@nl = constant [2 x i8] c"\0A\00"
@in64 = global <2 x i64> <i64 81985529216486895, i64 4096>
@in32 = global <2 x i32> <i32 65280, i32 -8>
@in16 = global <4 x i16> <i16 258, i16 -2, i16 0, i16 4095>
declare <2 x i64> @llvm.ctlz.v2i64(<2 x i64>, i1)
declare <2 x i64> @llvm.cttz.v2i64(<2 x i64>, i1)
declare <2 x i64> @llvm.bswap.v2i64(<2 x i64>)
declare <2 x i64> @llvm.ctpop.v2i64(<2 x i64>)
declare <2 x i32> @llvm.ctlz.v2i32(<2 x i32>, i1)
declare <2 x i32> @llvm.cttz.v2i32(<2 x i32>, i1)
declare <2 x i32> @llvm.bswap.v2i32(<2 x i32>)
declare <2 x i32> @llvm.abs.v2i32(<2 x i32>, i1)
declare <4 x i16> @llvm.bswap.v4i16(<4 x i16>)
declare <4 x i16> @llvm.ctpop.v4i16(<4 x i16>)
declare i32 @printf(ptr, ...)
declare i32 @puts(ptr)
define void @show(<2 x i64> %a, <2 x i32> %b) noinline {
  %a0 = extractelement <2 x i64> %a, i32 0
  %a1 = extractelement <2 x i64> %a, i32 1
  %b0 = extractelement <2 x i32> %b, i32 0
  %b1 = extractelement <2 x i32> %b, i32 1
  call i32 (ptr, ...) @printf(ptr @fmt, i64 %a0, i64 %a1, i32 %b0, i32 %b1)
  call i32 (ptr, ...) @printf(ptr @nl)
  ret void
}
define i32 @main() {
  %a = load volatile <2 x i64>, ptr @in64
  %b = load volatile <2 x i32>, ptr @in32
  %c = load volatile <4 x i16>, ptr @in16
  %a1 = call <2 x i64> @llvm.ctlz.v2i64(<2 x i64> %a, i1 false)
  %b1 = call <2 x i32> @llvm.ctlz.v2i32(<2 x i32> %b, i1 false)
  call void @show(<2 x i64> %a1, <2 x i32> %b1)
  %a2 = call <2 x i64> @llvm.cttz.v2i64(<2 x i64> %a, i1 true)
  %b2 = call <2 x i32> @llvm.cttz.v2i32(<2 x i32> %b, i1 true)
  call void @show(<2 x i64> %a2, <2 x i32> %b2)
  %a3 = call <2 x i64> @llvm.bswap.v2i64(<2 x i64> %a)
  %b3 = call <2 x i32> @llvm.bswap.v2i32(<2 x i32> %b)
  call void @show(<2 x i64> %a3, <2 x i32> %b3)
  %a4 = call <2 x i64> @llvm.ctpop.v2i64(<2 x i64> %a)
  %b4 = call <2 x i32> @llvm.abs.v2i32(<2 x i32> %b, i1 false)
  call void @show(<2 x i64> %a4, <2 x i32> %b4)
  %c1 = call <4 x i16> @llvm.bswap.v4i16(<4 x i16> %c)
  %c2 = call <4 x i16> @llvm.ctpop.v4i16(<4 x i16> %c)
  %c3 = bitcast <4 x i16> %c1 to i64
  %c4 = bitcast <4 x i16> %c2 to i64
  %d = insertelement <2 x i64> zeroinitializer, i64 %c3, i32 0
  %e = insertelement <2 x i64> %d, i64 %c4, i32 1
  call void @show(<2 x i64> %e, <2 x i32> %b4)
  ret i32 0
}
