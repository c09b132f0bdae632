; Trip counts multiply; an unknown bound and a called function of the module end the count.
; RUN: max_trips
; EXPECT: report
define void @f(ptr %p, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %inner ]
  store i64 %j, ptr %p
  %j1 = add i64 %j, 1
  %jm = icmp ult i64 %j1, 7
  br i1 %jm, label %inner, label %latch
latch:
  %i1 = add i64 %i, 1
  %im = icmp ult i64 %i1, 5
  br i1 %im, label %outer, label %unknown
unknown:
  %k = phi i64 [ 0, %latch ], [ %k1, %unknown ]
  %k1 = add i64 %k, 1
  %km = icmp ult i64 %k1, %n
  br i1 %km, label %unknown, label %calls
calls:
  %l = phi i64 [ 0, %unknown ], [ %l1, %calls ]
  call void @g()
  %l1 = add i64 %l, 1
  %lm = icmp ult i64 %l1, 9
  br i1 %lm, label %calls, label %end
end:
  ret void
}
define void @g() {
entry:
  ret void
}
