; The landing pad of an exception that leaves the loop is compiled with it; the handler is not.
; RUN: osr_entry block=1 yields=true
; EXPECT: changed
define i64 @f(ptr %p, i64 %n) personality ptr @personality {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %twice = mul i64 %i, 2
  invoke void @g(i64 %twice) to label %latch unwind label %pad
latch:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
pad:
  %e = landingpad { ptr, i32 } catch ptr null
  br label %handler
handler:
  %thrown = extractvalue { ptr, i32 } %e, 0
  call void @h(ptr %thrown)
  ret i64 %twice
end:
  ret i64 %next
}
declare void @g(i64)
declare void @h(ptr)
declare i32 @personality(...)
