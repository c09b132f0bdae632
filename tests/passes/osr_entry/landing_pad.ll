; An exception cannot be resumed at a block.
; RUN: osr_entry block=1
; EXPECT: refused its loop begins with a landing pad
define void @f() personality ptr @personality {
entry:
  invoke void @g() to label %end unwind label %pad
pad:
  %e = landingpad { ptr, i32 } cleanup
  invoke void @g() to label %end unwind label %pad
end:
  ret void
}
declare void @g()
declare i32 @personality(...)
