; Tests of types are left to LLVM.
; RUN: lower_checked_loads
; EXPECT: unchanged
define i1 @f(ptr %t) {
  %c = call i1 @llvm.type.test(ptr %t, metadata !"T")
  ret i1 %c
}
declare i1 @llvm.type.test(ptr, metadata)
