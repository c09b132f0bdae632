; A loop that was unrolled by three compares the rest in bytes, whose length LLVM does not know: it gets a counter.
; RUN: nvptx_unroll_reductions
; EXPECT: changed
target triple = "nvptx64-nvidia-cuda"
declare i32 @__kmpc_nvptx_parallel_reduce_nowait_v2(ptr, i64, ptr, ptr, ptr)
declare i64 @__kmpc_shuffle_int64(i64, i16, i16)
define internal void @shuffle(ptr %list, i16 %lane, i16 %offset, i16 %kind) {
entry:
  %other = alloca [24 x i64]
  %from = load ptr, ptr %list
  %end = getelementptr i8, ptr %from, i64 192
  %last = ptrtoint ptr %end to i64
  br label %loop
loop:
  %a = phi ptr [ %from, %entry ], [ %next_a, %loop ]
  %b = phi ptr [ %other, %entry ], [ %next_b, %loop ]
  %x = load i64, ptr %a
  %y = call i64 @__kmpc_shuffle_int64(i64 %x, i16 %offset, i16 32)
  store i64 %y, ptr %b
  %next_a = getelementptr i8, ptr %a, i64 24
  %next_b = getelementptr i8, ptr %b, i64 24
  %at = ptrtoint ptr %next_a to i64
  %rest = sub i64 %last, %at
  %more = icmp samesign ugt i64 %rest, 7
  br i1 %more, label %loop, label %done
done:
  %z = load i64, ptr %other
  store i64 %z, ptr %from
  ret void
}
define internal void @gather(ptr %list, i32 %warps) {
  ret void
}
define i32 @kernel(ptr %list) {
  %r = call i32 @__kmpc_nvptx_parallel_reduce_nowait_v2(ptr null, i64 192, ptr %list, ptr @shuffle, ptr @gather)
  ret i32 %r
}
