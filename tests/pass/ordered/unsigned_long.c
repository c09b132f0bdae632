// OpenMP 5.2, section 15.10.2: ordered over an unsigned 64-bit variable near the end of its range, up and down.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  unsigned long base = 18446744073709551000ul, next = base;
#pragma omp parallel for ordered num_threads(3) schedule(dynamic)
  for (unsigned long i = base; i < base + 40; i += 2) {
#pragma omp ordered
    {
      CHECK(next == i);
      next = i + 2;
    }
  }
  CHECK(next == base + 40);
#pragma omp parallel for ordered num_threads(2)
  for (unsigned long i = base + 40; i > base; i -= 4) {
#pragma omp ordered
    {
      CHECK(next == i);
      next = i - 4;
    }
  }
  CHECK(next == base);
  return DONE();
}
