; Entries of the OpenMP runtime are native functions; a value that lives over a call is in its slot.
; RUN: inspect --baseline f
; CHECK: mov qword ptr [rsi+40], &ident
; CHECK: mov rax, handler of native
; CHECK: add r8d, ebx
; CHECK: mov [rsi+32], r8
; CHECK-NEXT: mov rdi, bytecode+88
; CHECK-NEXT: mov rax, handler of native

%struct.ident_t = type { i32, i32, i32, i32, ptr }
@.str = private constant [23 x i8] c";unknown;unknown;0;0;;\00"
@ident = private constant %struct.ident_t { i32 0, i32 66, i32 0, i32 22, ptr @.str }
declare i32 @__kmpc_global_thread_num(ptr)
declare void @__kmpc_barrier(ptr, i32)
define i32 @f(i32 %a) {
  %thread = call i32 @__kmpc_global_thread_num(ptr @ident)
  %sum = add i32 %a, %thread
  call void @__kmpc_barrier(ptr @ident, i32 %thread)
  ret i32 %sum
}
