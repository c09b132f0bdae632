; A counted loop: the counter is updated in place and its step is fused with the branch; the load
; is fused with the sum.
define double @golden(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %sum, %loop ]
  %at = getelementptr double, ptr %p, i64 %i
  %x = load double, ptr %at
  %sum = fadd double %s, %x
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret double %sum
}
@data = global [4 x double] zeroinitializer
define i32 @main() {
  %r = call double @golden(ptr @data, i64 4)
  ret i32 0
}
