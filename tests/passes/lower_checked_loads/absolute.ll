; The load is one of a pointer, and its check is true.
; RUN: lower_checked_loads
; EXPECT: changed
define i1 @f(ptr %t) {
  %p = call { ptr, i1 } @llvm.type.checked.load(ptr %t, i32 8, metadata !"T")
  %f = extractvalue { ptr, i1 } %p, 0
  call void %f()
  %c = extractvalue { ptr, i1 } %p, 1
  ret i1 %c
}
declare { ptr, i1 } @llvm.type.checked.load(ptr, i32, metadata)
