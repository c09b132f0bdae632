// no-sanitize: faults on purpose
// signal: 11
// A store to a constant dies by SIGSEGV.
#include <stdio.h>
static const int table[4] = {1, 2, 3, 4};
int main(void) {
  volatile int k = 2;
  int *volatile p = (int *)&table[k];
  puts("storing");
  fflush(stdout);
  *(volatile int *)p = 5;
  return table[k];
}
