; A sum in its own loop repeats inside the handler; the counter's next value is used as an index before
; the branch uses it, and still takes the counter's slot.
define double @golden(ptr %p, ptr %q, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %sum, %loop ]
  %next = add nuw nsw i64 %i, 1
  %a = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %a
  %b = getelementptr double, ptr %q, i64 %next
  %y = load double, ptr %b
  %sum = call double @llvm.fmuladd.f64(double %x, double %y, double %s)
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop
out:
  ret double %sum
}
declare double @llvm.fmuladd.f64(double, double, double)
@data = global [4 x double] zeroinitializer
define i32 @main() {
  %r = call double @golden(ptr @data, ptr @data, i64 2)
  ret i32 0
}
