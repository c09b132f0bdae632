// Labels as values: a threaded-code interpreter with indirectbr.
#include <stdio.h>
int main(void) {
  static const void *ops[] = {&&push, &&add, &&mul, &&dup, &&jnz, &&dec, &&print, &&halt};
  static const signed char code[] = {0, 10, 0, 1, 6, 0, 3, 2, 5, 4, -6, 7};
  long st[16];
  int sp = 0, pc = 0, steps = 0;
  long acc = 0;
#define NEXT                                                                                                           \
  do {                                                                                                                 \
    steps++;                                                                                                           \
    goto *ops[code[pc++]];                                                                                             \
  } while (0)
  NEXT;
push:
  st[sp++] = code[pc++];
  NEXT;
add:
  sp--;
  st[sp - 1] += st[sp];
  NEXT;
mul:
  sp--;
  st[sp - 1] *= st[sp];
  acc += st[sp - 1];
  NEXT;
dup:
  st[sp] = st[sp - 1];
  sp++;
  NEXT;
dec:
  st[0]--;
  st[sp - 1]--;
  NEXT;
jnz:
  if (st[0] > 0) {
    pc += code[pc];
    if (sp > 12) sp = 2;
  } else
    pc++;
  NEXT;
print:
  printf("%ld ", st[sp - 1]);
  NEXT;
halt:
  printf("%d %ld %d\n", steps, acc, sp);
  return 0;
}
