; exit: 22
; Atomic pointers, unordered and volatile atomic accesses, atomic floats.
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
@a = internal global i32 11
@b = internal global i32 22
@slot = internal global ptr @a
@u = internal global i64 5
@fl = internal global double 1.5
define i32 @main() {
  %p = load atomic ptr, ptr @slot acquire, align 8
  %v = load i32, ptr %p
  %z = zext i32 %v to i64
  call void @p(i64 %z)
  %x = cmpxchg ptr @slot, ptr @a, ptr @b acq_rel monotonic
  %ok = extractvalue {ptr, i1} %x, 1
  %okz = zext i1 %ok to i64
  call void @p(i64 %okz)
  %old = atomicrmw xchg ptr @slot, ptr null seq_cst
  %v2 = load i32, ptr %old
  %z2 = zext i32 %v2 to i64
  call void @p(i64 %z2)
  %n = load atomic volatile ptr, ptr @slot unordered, align 8
  %isn = icmp eq ptr %n, null
  %isz = zext i1 %isn to i64
  call void @p(i64 %isz)
  store atomic i64 9, ptr @u unordered, align 8
  %uu = load atomic i64, ptr @u monotonic, align 8
  call void @p(i64 %uu)
  store atomic volatile double 2.25, ptr @fl release, align 8
  %f = load atomic double, ptr @fl seq_cst, align 8
  %fb = bitcast double %f to i64
  call void @p(i64 %fb)
  call void @nlp()
  ret i32 %v2
}
