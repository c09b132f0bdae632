; exit: 12
; Constant expressions in initializers and operands: getelementptr, ptrtoint, inttoptr, trunc, add, sub, xor.
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
%s = type { i32, [3 x i16], ptr }
@g = internal global %s { i32 7, [3 x i16] [i16 1, i16 2, i16 3], ptr @g }
@in = internal global ptr getelementptr inbounds (%s, ptr @g, i64 0, i32 1, i64 2)
@diff = internal constant i64 sub (i64 ptrtoint (ptr getelementptr (%s, ptr @g, i64 1) to i64), i64 ptrtoint (ptr @g to i64))
@neg = internal constant i64 sub (i64 0, i64 ptrtoint (ptr getelementptr (i8, ptr null, i64 5) to i64))
@rel = internal constant i32 trunc (i64 sub (i64 ptrtoint (ptr getelementptr (i8, ptr @arr, i64 12) to i64), i64 ptrtoint (ptr @arr to i64)) to i32)
@arr = internal global [4 x i32] [i32 10, i32 20, i32 30, i32 40]
@fake = internal global ptr inttoptr (i64 add (i64 ptrtoint (ptr @arr to i64), i64 8) to ptr)
@odd = internal global <{ i8, i32, [2 x <2 x i8>], i24 }> <{ i8 1, i32 2, [2 x <2 x i8>] [<2 x i8> <i8 3, i8 4>, <2 x i8> <i8 5, i8 6>], i24 -2 }>
@str = internal constant [6 x i8] c"ab\00\FF\22\5C"
@fpc = internal constant [3 x double] [double 0x7FF8000000000000, double 1.0e10, double -0.0]
@x87 = internal constant x86_fp80 0xK3FFF8000000000000000
@hf = internal constant half 0xH3C00
@bf = internal constant bfloat 0xR3F80
define i32 @main() {
  %p = load volatile ptr, ptr @in
  %a = load i16, ptr %p
  %az = zext i16 %a to i64
  call void @p(i64 %az)
  %d = load volatile i64, ptr @diff
  call void @p(i64 %d)
  %n = load volatile i64, ptr @neg
  call void @p(i64 %n)
  %r = load volatile i32, ptr @rel
  %rz = zext i32 %r to i64
  call void @p(i64 %rz)
  %fp = load volatile ptr, ptr @fake
  %f = load i32, ptr %fp
  %fz = zext i32 %f to i64
  call void @p(i64 %fz)
  %o = load volatile i32, ptr getelementptr (i8, ptr @odd, i64 1), align 1
  %oz = zext i32 %o to i64
  call void @p(i64 %oz)
  %o2 = load volatile i32, ptr getelementptr (i8, ptr @odd, i64 5), align 1
  %o2z = zext i32 %o2 to i64
  call void @p(i64 %o2z)
  %o3 = load volatile i24, ptr getelementptr (i8, ptr @odd, i64 9), align 1
  %o3z = sext i24 %o3 to i64
  call void @p(i64 %o3z)
  %s = load volatile i32, ptr getelementptr (i8, ptr @str, i64 2), align 1
  %sz = zext i32 %s to i64
  call void @p(i64 %sz)
  %c = load volatile i64, ptr getelementptr ([3 x double], ptr @fpc, i64 0, i64 2)
  call void @p(i64 %c)
  %x = load volatile x86_fp80, ptr @x87
  %xi = fptosi x86_fp80 %x to i64
  call void @p(i64 %xi)
  %h = load volatile half, ptr @hf
  %hd = fpext half %h to double
  %hb = bitcast double %hd to i64
  call void @p(i64 %hb)
  %b = load volatile bfloat, ptr @bf
  %bd = fpext bfloat %b to float
  %bb = bitcast float %bd to i32
  %bz = zext i32 %bb to i64
  call void @p(i64 %bz)
  call void @nlp()
  ret i32 %r
}
