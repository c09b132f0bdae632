; A memory operand to which the template adds becomes a plain register, in its address space.
; RUN: rewire
; EXPECT: changed
define i32 @f(ptr %p) {
  %x = call i32 asm "movl 4+$1, $0", "=r,*m"(ptr elementtype(i32) %p)
  ret i32 %x
}
define i32 @g(ptr addrspace(257) %p) {
  %x = call i32 asm "movl 4+$1, $0", "=r,*m"(ptr addrspace(257) elementtype(i32) %p)
  ret i32 %x
}
