// A program with its own __stack_chk_fail, which ends it.
// levels: O0 O2
// flags: -fstack-protector-all
// exit: 7
// stdout: overrun
#include <stdio.h>
#include <stdlib.h>
void __stack_chk_fail(void) {
  puts("overrun");
  exit(7);
}
volatile int length = 40;
__attribute__((noinline)) static int fill(void) {
  char text[12];
  for (int i = 0; i < length; i++) ((volatile char *)text)[i] = (char)i;
  return text[3];
}
int main(void) { return fill(); }
