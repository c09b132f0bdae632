; A relative table holds distances.
; RUN: lower_checked_loads
; EXPECT: changed
define i1 @f(ptr %t) {
  %p = call { ptr, i1 } @llvm.type.checked.load.relative(ptr %t, i32 4, metadata !"T")
  %f = extractvalue { ptr, i1 } %p, 0
  call void %f()
  %c = extractvalue { ptr, i1 } %p, 1
  ret i1 %c
}
declare { ptr, i1 } @llvm.type.checked.load.relative(ptr, i32, metadata)
