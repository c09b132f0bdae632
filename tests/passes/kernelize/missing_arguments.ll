; A call of the runtime without its last arguments.
; RUN: kernelize
; EXPECT: report
target triple = "x86_64-pc-linux-gnu"
define void @f(ptr %a, i64 %n) {
  %pa = alloca ptr
  %pn = alloca i64
  store ptr %a, ptr %pa
  store i64 %n, ptr %pn
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @region, ptr %pn, ptr %pa)
  ret void
}
define internal void @region(ptr %gtid, ptr %btid, ptr %pn, ptr %pa) {
entry:
  %lower = alloca i64
  %upper = alloca i64
  %stride = alloca i64
  %last = alloca i32
  %n = load i64, ptr %pn
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %start, label %end
start:
  %bound = add nsw i64 %n, -1
  store i64 0, ptr %lower
  store i64 %bound, ptr %upper
  store i64 1, ptr %stride
  store i32 0, ptr %last
  %id = load i32, ptr %gtid
  call void @__kmpc_for_static_init_8(ptr null, i32 %id, i32 34)
  %to = load i64, ptr %upper
  %until = call i64 @llvm.smin.i64(i64 %to, i64 %bound)
  store i64 %until, ptr %upper
  %first = load i64, ptr %lower
  %none = icmp sgt i64 %first, %until
  br i1 %none, label %fini, label %enter
enter:
  %array = load ptr, ptr %pa
  br label %loop
loop:
  %i = phi i64 [ %first, %enter ], [ %next, %loop ]
  %at = getelementptr inbounds double, ptr %array, i64 %i
  %x = load double, ptr %at
  %y = fmul double %x, 2.0
  store double %y, ptr %at
  %next = add i64 %i, 1
  %done = icmp eq i64 %i, %until
  br i1 %done, label %fini, label %loop
fini:
  call void @__kmpc_for_static_fini(ptr null, i32 %id)
  br label %end
end:
  ret void
}
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__kmpc_for_static_init_8(ptr, i32, i32)
declare void @__kmpc_for_static_fini(ptr, i32)
declare i64 @llvm.smin.i64(i64, i64)
