; The code is for the architecture that was asked for.
; RUN: ptx sm=80
; EXPECT: report
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p) {
  store i32 1, ptr %p
  ret void
}
