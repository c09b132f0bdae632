; A schedule without chunks gives each team one piece.
; RUN: nvptx_grid
; EXPECT: unchanged
target triple = "nvptx64-nvidia-cuda"
@k_kernel_environment = constant { { i8, i8, i8, i32, i32, i32, i32, i32, i32 } } { { i8, i8, i8, i32, i32, i32, i32, i32, i32 } { i8 0, i8 0, i8 2, i32 1, i32 128, i32 0, i32 0, i32 0, i32 0 } }
define ptx_kernel void @k(i32 %n, ptr %a) {
  call void @teams(i32 %n, ptr %a)
  ret void
}
define internal void @teams(i32 %n, ptr %a) {
entry:
  %lower = alloca i32
  %upper = alloca i32
  %stride = alloca i32
  %last = alloca i32
  %arguments = alloca [4 x ptr]
  %bound = add i32 %n, -1
  store i32 0, ptr %lower
  store i32 %bound, ptr %upper
  store i32 1, ptr %stride
  store i32 0, ptr %last
  %block = call i32 @__kmpc_get_hardware_num_threads_in_block()
  call void @__kmpc_distribute_static_init_4(ptr null, i32 0, i32 92, ptr %last, ptr %lower, ptr %upper, ptr %stride, i32 1, i32 %block)
  %first = load i32, ptr %lower
  br label %loop
loop:
  %i = phi i32 [ %first, %entry ], [ %next, %body ]
  %more = icmp slt i32 %i, %n
  br i1 %more, label %body, label %end
body:
  %l = load i32, ptr %lower
  %l64 = zext i32 %l to i64
  %u = load i32, ptr %upper
  %u64 = zext i32 %u to i64
  %lp = inttoptr i64 %l64 to ptr
  store ptr %lp, ptr %arguments
  %at1 = getelementptr inbounds i8, ptr %arguments, i64 8
  %up = inttoptr i64 %u64 to ptr
  store ptr %up, ptr %at1
  %at2 = getelementptr inbounds i8, ptr %arguments, i64 16
  store ptr %a, ptr %at2
  call void @__kmpc_parallel_60(ptr null, i32 0, i32 1, i32 -1, i32 -1, ptr @region, ptr null, ptr %arguments, i64 3, i32 0)
  %by = load i32, ptr %stride
  %l2 = load i32, ptr %lower
  %next = add i32 %l2, %by
  store i32 %next, ptr %lower
  %u2 = load i32, ptr %upper
  %u3 = add i32 %u2, %by
  %least = call i32 @llvm.smin.i32(i32 %u3, i32 %bound)
  store i32 %least, ptr %upper
  br label %loop
end:
  call void @__kmpc_distribute_static_fini(ptr null, i32 0)
  ret void
}
define internal void @region(ptr %gtid, ptr %btid, i64 %from, i64 %to, ptr %a) {
entry:
  %lower = alloca i32
  %upper = alloca i32
  %stride = alloca i32
  %last = alloca i32
  %f = trunc i64 %from to i32
  %t = trunc i64 %to to i32
  store i32 %f, ptr %lower
  store i32 %t, ptr %upper
  store i32 1, ptr %stride
  store i32 0, ptr %last
  call void @__kmpc_for_static_init_4(ptr null, i32 0, i32 33, ptr %last, ptr %lower, ptr %upper, ptr %stride, i32 1, i32 1)
  %first = load i32, ptr %lower
  br label %loop
loop:
  %i = phi i32 [ %first, %entry ], [ %next, %body ]
  %i64 = sext i32 %i to i64
  %done = icmp ult i64 %to, %i64
  br i1 %done, label %end, label %body
body:
  %at = getelementptr double, ptr %a, i64 %i64
  store double 1.0, ptr %at
  %by = load i32, ptr %stride
  %next = add i32 %i, %by
  br label %loop
end:
  call void @__kmpc_for_static_fini(ptr null, i32 0)
  ret void
}
declare i32 @__kmpc_get_hardware_num_threads_in_block()
declare i32 @llvm.smin.i32(i32, i32)
declare void @__kmpc_distribute_static_init_4(ptr, i32, i32, ptr, ptr, ptr, ptr, i32, i32)
declare void @__kmpc_distribute_static_fini(ptr, i32)
declare void @__kmpc_for_static_init_4(ptr, i32, i32, ptr, ptr, ptr, ptr, i32, i32)
declare void @__kmpc_for_static_fini(ptr, i32)
declare void @__kmpc_parallel_60(ptr, i32, i32, i32, i32, ptr, ptr, ptr, i64, i32)
