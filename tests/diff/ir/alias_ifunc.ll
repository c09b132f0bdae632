; exit: 70
; Aliases of functions and of parts of globals, an ifunc, linkage kinds, comdat.
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
$cd = comdat any
@arr = global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@mid = alias i32, getelementptr ([4 x i32], ptr @arr, i64 0, i64 2)
@twice = alias i64 (i64), ptr @impl
@pick = ifunc i64 (i64), ptr @resolver
@cd = linkonce_odr global i32 55, comdat
@wk = weak_odr constant i32 66
@common = common global i32 0
@ext = extern_weak global i32
define internal i64 @impl(i64 %x) noinline {
  %r = mul i64 %x, 2
  ret i64 %r
}
define internal ptr @resolver() {
  ret ptr @impl
}
declare extern_weak i32 @surely_not_defined_anywhere(i32)
define i32 @main() {
  %m = load volatile i32, ptr @mid
  %mz = zext i32 %m to i64
  call void @p(i64 %mz)
  %t = call i64 @twice(i64 21)
  call void @p(i64 %t)
  %q = call i64 @pick(i64 8)
  call void @p(i64 %q)
  %c = load volatile i32, ptr @cd
  %cz = zext i32 %c to i64
  call void @p(i64 %cz)
  store volatile i32 4, ptr @common
  %k = load volatile i32, ptr @common
  %w = load volatile i32, ptr @wk
  %s = add i32 %k, %w
  %sz = zext i32 %s to i64
  call void @p(i64 %sz)
  %e = icmp eq ptr @ext, null
  %ez = zext i1 %e to i64
  call void @p(i64 %ez)
  %f = icmp eq ptr @surely_not_defined_anywhere, null
  %fz = zext i1 %f to i64
  call void @p(i64 %fz)
  call void @nlp()
  ret i32 %s
}
