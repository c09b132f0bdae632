; A kernel that calls a function of the host is refused; the other is compiled.
; RUN: ptx
; EXPECT: report
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p) {
  call void @unknown(ptr %p)
  ret void
}
define ptx_kernel void @other(ptr %p) {
  store i32 1, ptr %p
  ret void
}
declare void @unknown(ptr)
