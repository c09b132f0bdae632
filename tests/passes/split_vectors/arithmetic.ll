; Loads, arithmetic and stores of four doubles become those of two halves.
; RUN: split_vectors
; EXPECT: changed
define void @f(ptr %a, ptr %b) {
  %x = load <4 x double>, ptr %a
  %y = load <4 x double>, ptr %b
  %s = fadd <4 x double> %x, %y
  store <4 x double> %s, ptr %a
  ret void
}
