; Stores of wide constants whose words are in separate registers: combining them in pairs takes more registers
; than exist.

@out = global [40 x double] zeroinitializer, align 128
@text = private constant [4 x i8] c"%g\0A\00"
declare i32 @printf(ptr, ...)

define void @fill(ptr %to) noinline {
  store <8 x double> <double 0.0, double 1.0, double 2.0, double 3.0, double 4.0, double 5.0, double 6.0, double 7.0>, ptr %to, align 16
  %p = getelementptr i8, ptr %to, i64 64
  store <16 x double> <double 0.0, double 0.0, double 1.0, double 1.0, double 2.0, double 2.0, double 3.0, double 3.0, double 4.0, double 4.0, double 5.0, double 5.0, double 6.0, double 6.0, double 7.0, double 7.0>, ptr %p, align 16
  %q = getelementptr i8, ptr %to, i64 192
  store <16 x double> <double 0.0, double 0.0, double 1.0, double 1.0, double 2.0, double 2.0, double 3.0, double 3.0, double 4.0, double 4.0, double 5.0, double 5.0, double 6.0, double 6.0, double 7.0, double 7.0>, ptr %q, align 16
  ret void
}

define i32 @main() {
  call void @fill(ptr @out)
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %p = getelementptr double, ptr @out, i64 %i
  %x = load double, ptr %p
  call i32 (ptr, ...) @printf(ptr @text, double %x)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 40
  br i1 %done, label %out, label %loop
out:
  ret i32 0
}
