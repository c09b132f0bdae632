; A large variable without an alignment lies at a multiple of 16: accesses may rely on it, as
; LLVM's own passes do when they make a variable of an allocation.
target triple = "x86_64-pc-linux-gnu"

@before = internal global i8 1
@body = internal unnamed_addr global [520 x i8] undef
@between = internal global i8 2
@table = internal unnamed_addr global [17 x i8] zeroinitializer
@after = internal global i8 3
@format = private constant [16 x i8] c"%g %g %d %d %d\0A\00"

declare i32 @printf(ptr, ...)

define i32 @main(i32 %count, ptr %words) noinline {
entry:
  %n = sitofp i32 %count to double
  %one = insertelement <2 x double> <double 2.0, double 3.0>, double %n, i32 0
  store <2 x double> %one, ptr @body, align 16
  store <2 x double> %one, ptr @table, align 16
  %a = load double, ptr @body, align 16
  %b = load double, ptr getelementptr inbounds nuw (i8, ptr @table, i64 8), align 8
  %c = load volatile i8, ptr @before, align 1
  %d = load volatile i8, ptr @between, align 1
  %e = load volatile i8, ptr @after, align 1
  %ci = zext i8 %c to i32
  %di = zext i8 %d to i32
  %ei = zext i8 %e to i32
  %r = call i32 (ptr, ...) @printf(ptr @format, double %a, double %b, i32 %ci, i32 %di, i32 %ei)
  ret i32 0
}
