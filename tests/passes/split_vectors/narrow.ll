; Two doubles fit in one register of 128 bits.
; RUN: split_vectors
; EXPECT: unchanged
define void @f(ptr %a) {
  %x = load <2 x double>, ptr %a
  %s = fadd <2 x double> %x, %x
  store <2 x double> %s, ptr %a
  ret void
}
