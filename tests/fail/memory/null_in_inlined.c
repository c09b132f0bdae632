// A fault in an inlined function names that function and its line.
// levels: O1 O2
// signal: 11
// stderr-has: null_in_inlined.c:8
// stderr-has: in `inner`
#include <stdio.h>

__attribute__((always_inline)) static inline int inner(volatile int *p) { return *p; }

int main(int argc, char **argv) {
  (void)argv;
  volatile int *p = argc > 100 ? &argc : 0;
  printf("%d\n", inner(p));
  return 0;
}
