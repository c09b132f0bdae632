; A guest with a parallel loop over its own array.
target triple = "x86_64-pc-linux-gnu"
@data = global [1024 x double] zeroinitializer

define void @fill(i64 %n) {
  %pn = alloca i64
  store i64 %n, ptr %pn
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @region, ptr %pn)
  ret void
}

define double @element(i64 %i) {
  %at = getelementptr inbounds [1024 x double], ptr @data, i64 0, i64 %i
  %x = load double, ptr %at
  ret double %x
}

define internal void @region(ptr %gtid, ptr %btid, ptr %pn) {
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
  call void @__kmpc_for_static_init_8(ptr null, i32 %id, i32 34, ptr %last, ptr %lower, ptr %upper, ptr %stride, i64 1, i64 1)
  %to = load i64, ptr %upper
  %until = call i64 @llvm.smin.i64(i64 %to, i64 %bound)
  store i64 %until, ptr %upper
  %first = load i64, ptr %lower
  %none = icmp sgt i64 %first, %until
  br i1 %none, label %fini, label %loop
loop:
  %i = phi i64 [ %first, %start ], [ %next, %loop ]
  %at = getelementptr inbounds [1024 x double], ptr @data, i64 0, i64 %i
  %x = load double, ptr %at
  %y = fadd double %x, 1.0
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
declare void @__kmpc_for_static_init_8(ptr, i32, i32, ptr, ptr, ptr, ptr, i64, i64)
declare void @__kmpc_for_static_fini(ptr, i32)
declare i64 @llvm.smin.i64(i64, i64)
