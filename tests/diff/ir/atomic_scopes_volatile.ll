; exit: 81
; Atomics with the singlethread scope and volatile, and elementwise order of volatile accesses.
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
@x = internal global i64 5
define i32 @main() {
  %a = atomicrmw volatile add ptr @x, i64 3 syncscope("singlethread") monotonic
  call void @p(i64 %a)
  %c = cmpxchg volatile ptr @x, i64 8, i64 80 syncscope("singlethread") acq_rel acquire
  %v = extractvalue {i64, i1} %c, 0
  call void @p(i64 %v)
  store atomic i64 81, ptr @x syncscope("singlethread") release, align 8
  fence syncscope("singlethread") acq_rel
  %l = load atomic volatile i64, ptr @x syncscope("singlethread") acquire, align 8
  call void @p(i64 %l)
  %t = trunc i64 %l to i32
  call void @nlp()
  ret i32 %t
}
