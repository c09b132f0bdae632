// OpenMP 5.2, section 11.5.3: a dynamic loop over a range of more than 2^32 iterations in large steps, and chunk arithmetic in 64 bits.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  long n = 0, first = -1, last = -1;
#pragma omp parallel for num_threads(4) schedule(dynamic, 3) reduction(+ : n) reduction(max : last)
  for (long i = -(3L << 40); i < 3L << 40; i += 1L << 36) { n++; if (i > last) last = i; if (i == -(3L << 40)) first = i; }
  CHECK(n == 96 && first == -(3L << 40) && last == (3L << 40) - (1L << 36));
  return DONE();
}
