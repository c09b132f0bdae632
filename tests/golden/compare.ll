; A comparison used only by its branch is fused with it; zero-extension costs nothing.
define i64 @golden(i32 %a, double %x) {
  %c = icmp sgt i32 %a, 7
  br i1 %c, label %more, label %less
more:
  %d = fcmp uge double %x, 1.0
  br i1 %d, label %less, label %end
less:
  %w = zext i32 %a to i64
  ret i64 %w
end:
  %k = icmp ult i32 %a, 100
  %r = select i1 %k, i64 1, i64 2
  ret i64 %r
}
define i32 @main() {
  %r = call i64 @golden(i32 3, double 2.0)
  ret i32 0
}
