; An invoke is a call and a jump; its landing moves the phis' values.
declare i32 @__gxx_personality_v0(...)
define i32 @callee(i32 %a) {
  ret i32 %a
}
define i32 @golden(i32 %a) personality ptr @__gxx_personality_v0 {
entry:
  %x = invoke i32 @callee(i32 %a) to label %next unwind label %pad
next:
  %y = invoke i32 @callee(i32 %x) to label %end unwind label %pad
pad:
  %n = phi i32 [ 1, %entry ], [ 2, %next ]
  %lp = landingpad { ptr, i32 } cleanup
  %c = icmp eq i32 %n, 1
  br i1 %c, label %end, label %out
out:
  resume { ptr, i32 } %lp
end:
  %r = phi i32 [ %y, %next ], [ %n, %pad ]
  ret i32 %r
}
define i32 @main() {
  %r = call i32 @golden(i32 3)
  ret i32 0
}
