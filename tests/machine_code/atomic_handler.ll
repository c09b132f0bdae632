; Compare-and-exchange, fences, sequentially consistent stores and extremes are left to their
; handlers.
; RUN: inspect --baseline f
; CHECK: handler of cas64
; CHECK: handler of fence
; CHECK: handler of sstore64
; CHECK: handler of amax64

define i64 @f(ptr %p, i64 %a, i64 %b) {
  %pair = cmpxchg ptr %p, i64 %a, i64 %b seq_cst seq_cst
  %old = extractvalue { i64, i1 } %pair, 0
  fence seq_cst
  store atomic i64 %old, ptr %p seq_cst, align 8
  %most = atomicrmw max ptr %p, i64 %a seq_cst
  ret i64 %most
}
