; An alias of a variable relative to the thread pointer is replaced within its address space.
; RUN: rewire
; EXPECT: changed
@v = external addrspace(257) global i32
@w = addrspace(257) global i32 1
@h = alias i32, ptr addrspace(257) @w
define i32 @f() {
  %x = load i32, ptr addrspace(257) @h
  %y = load i32, ptr addrspace(257) @v
  %s = add i32 %x, %y
  ret i32 %s
}
