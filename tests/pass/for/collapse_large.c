// OpenMP 5.2, section 4.4.3: a collapsed space whose size needs 64 bits although each loop's count fits in 32.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  long n = 0; int big = 1 << 17, step = 1 << 13;
#pragma omp parallel for collapse(3) num_threads(4) reduction(+ : n) schedule(static)
  for (int i = 0; i < big; i += step)
    for (int j = 0; j < big; j += step)
      for (long k = 0; k < 1L << 40; k += 1L << 38) n++;
  CHECK(n == 16 * 16 * 4);
  return DONE();
}
