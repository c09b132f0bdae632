; addrspacecast-free casts: trunc, zext, sext, with nneg and nuw, bitcasts between equal sizes, ptrtoint to narrow and wide.
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
@v = internal global i32 -559038737
@x = internal global i8 100
define i32 @main() {
  %v = load volatile i32, ptr @v
  %x = load volatile i8, ptr @x
  %a = trunc i32 %v to i17
  %b = sext i17 %a to i50
  %c = zext i50 %b to i64
  call void @p(i64 %c)
  %d = zext nneg i8 %x to i64
  call void @p(i64 %d)
  %e = sext i8 %x to i128
  %f = mul i128 %e, -1
  %g = ashr i128 %f, 70
  %h = trunc i128 %g to i64
  call void @p(i64 %h)
  %i = bitcast i32 %v to <2 x i16>
  %j = extractelement <2 x i16> %i, i32 1
  %k = zext i16 %j to i64
  call void @p(i64 %k)
  %l = bitcast i32 %v to float
  %m = fpext float %l to double
  %n = bitcast double %m to <8 x i8>
  %o = extractelement <8 x i8> %n, i32 7
  %q = zext i8 %o to i64
  call void @p(i64 %q)
  %r = inttoptr i32 %v to ptr
  %s = ptrtoint ptr %r to i64
  call void @p(i64 %s)
  %t = ptrtoint ptr %r to i16
  %u = zext i16 %t to i64
  call void @p(i64 %u)
  %w = ptrtoint ptr %r to i96
  %y = lshr i96 %w, 8
  %z = trunc i96 %y to i64
  call void @p(i64 %z)
  %aa = uitofp nneg i8 %x to float
  %a1 = fdiv float %aa, 1.0e+02
  %ab = fptoui float %a1 to i1
  %ac = uitofp i1 %ab to double
  %ad = trunc nuw nsw i64 %d to i8
  %ae = zext i8 %ad to i64
  call void @p(i64 %ae)
  %af = sitofp i128 %f to float
  %ag = fptosi float %af to i64
  call void @p(i64 %ag)
  call void @nlp()
  ret i32 0
}
