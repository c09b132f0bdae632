// Assembly that saves its caller's registers, as setjmp does: only compiled code can run the program.
// options: --tier=baseline
// exit: 125
// stderr-has: assembly that saves the caller's registers, as `setjmp` does, in the baseline tier
// stderr-has: in function `save`
#include "../pass/stacks/save_registers.h"
#include <stdio.h>
int main(void) {
  void *buffer[9];
  printf("%d\n", save(buffer));
  return 0;
}
