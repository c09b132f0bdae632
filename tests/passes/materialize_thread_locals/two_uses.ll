; The address is computed once, at the start of the function.
; RUN: materialize_thread_locals
; EXPECT: changed
@v = thread_local global [4 x i32] zeroinitializer
define i32 @f(i1 %c) {
entry:
  br i1 %c, label %then, label %end
then:
  store i32 1, ptr @v
  br label %end
end:
  %r = load i32, ptr getelementptr (i8, ptr @v, i64 4)
  ret i32 %r
}
