; The declaration of the relative load is there without any call, so that function numbers do not depend on what was read.
; RUN: lower_checked_loads
; EXPECT: changed
declare { ptr, i1 } @llvm.type.checked.load.relative(ptr, i32, metadata)
