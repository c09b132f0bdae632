; A kernel runs the constructors by priority, after it has stored the addresses of variables that
; point to each other. A constructor that LLVM can evaluate leaves no code.
; RUN: ptx
; EXPECT: report
target triple = "nvptx64-nvidia-cuda"
@a = global { i32, ptr } { i32 1, ptr @b }
@b = global { i32, ptr } { i32 2, ptr getelementptr (i8, ptr @a, i64 8) }
@plain = global ptr @number
@number = global i32 0
@seed = global i32 5
@llvm.global_ctors = appending global [3 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 200, ptr @second, ptr null }, { i32, ptr, ptr } { i32 100, ptr @first, ptr null }, { i32, ptr, ptr } { i32 300, ptr @known, ptr null }]
define internal void @first() {
  %s = load volatile i32, ptr @seed
  store i32 %s, ptr @number
  ret void
}
define internal void @second() {
  %n = load volatile i32, ptr @number
  %m = mul i32 %n, 3
  store volatile i32 %m, ptr @seed
  ret void
}
define internal void @known() {
  store i32 9, ptr @a
  ret void
}
define ptx_kernel void @use(ptr %out) {
  %at = load ptr, ptr getelementptr (i8, ptr @a, i64 8)
  %v = load i32, ptr %at
  store i32 %v, ptr %out
  ret void
}
