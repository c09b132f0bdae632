; A loop of known trip count writes all elements, every second one, or as many as an argument says.
; RUN: check_initialized
; EXPECT: report
define i32 @f(i64 %n) {
entry:
  %all = alloca [16 x i32]
  %gaps = alloca [15 x i32]
  %pairs = alloca [16 x i32]
  %unknown = alloca [16 x i32]
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a = getelementptr i32, ptr %all, i64 %i
  store i32 0, ptr %a
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 16
  br i1 %more, label %loop, label %second
second:
  %j = phi i64 [ 0, %loop ], [ %j2, %second ]
  %g = getelementptr i32, ptr %gaps, i64 %j
  store i32 0, ptr %g
  %p = getelementptr i32, ptr %pairs, i64 %j
  store i32 0, ptr %p
  %q = getelementptr i32, ptr %p, i64 1
  store i32 0, ptr %q
  %j2 = add i64 %j, 2
  %again = icmp ult i64 %j2, 16
  br i1 %again, label %second, label %third
third:
  %k = phi i64 [ 0, %second ], [ %k1, %third ]
  %u = getelementptr i32, ptr %unknown, i64 %k
  store i32 0, ptr %u
  %k1 = add i64 %k, 1
  %on = icmp ult i64 %k1, %n
  br i1 %on, label %third, label %end
end:
  %ra = getelementptr i32, ptr %all, i64 %n
  %va = load i32, ptr %ra
  %rg = getelementptr i32, ptr %gaps, i64 %n
  %vg = load i32, ptr %rg
  %rp = getelementptr i32, ptr %pairs, i64 %n
  %vp = load i32, ptr %rp
  %ru = getelementptr i32, ptr %unknown, i64 %n
  %vu = load i32, ptr %ru
  %s = add i32 %va, %vg
  %t = add i32 %vp, %vu
  %r = add i32 %s, %t
  ret i32 %r
}
