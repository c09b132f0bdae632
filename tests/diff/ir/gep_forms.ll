; Forms of getelementptr: negative and wide indices, i128-free narrow index types, nested types, byte form, null base, nuw.
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
%n = type { i8, [3 x { i16, i64 }], <4 x i32> }
@g = internal global [2 x %n] zeroinitializer, align 16
@m1 = internal global i8 -1
@k = internal global i32 2
define internal void @off(ptr %q) noinline {
  %a = ptrtoint ptr %q to i64
  %b = ptrtoint ptr @g to i64
  %d = sub i64 %a, %b
  call void @p(i64 %d)
  ret void
}
define i32 @main() {
  %k = load volatile i32, ptr @k
  %neg = load volatile i8, ptr @m1
  %a = getelementptr inbounds [2 x %n], ptr @g, i64 0, i32 1, i32 1, i32 %k, i32 1
  call void @off(ptr %a)
  %b = getelementptr %n, ptr %a, i8 %neg
  call void @off(ptr %b)
  %c = getelementptr [2 x %n], ptr @g, i64 0, i64 1, i32 2, i32 %k
  call void @off(ptr %c)
  %d = getelementptr i8, ptr %c, i64 -7
  call void @off(ptr %d)
  %e = getelementptr nuw i32, ptr %d, i16 3
  call void @off(ptr %e)
  %f = getelementptr i64, ptr null, i32 %k
  %fi = ptrtoint ptr %f to i64
  call void @p(i64 %fi)
  %h = getelementptr %n, ptr null, i32 1
  %hi = ptrtoint ptr %h to i64
  call void @p(i64 %hi)
  %w = sext i8 %neg to i64
  %x = getelementptr [5 x i24], ptr @g, i64 %w, i64 4
  call void @off(ptr %x)
  call void @nlp()
  ret i32 0
}
