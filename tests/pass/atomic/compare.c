// OpenMP 5.2, section 15.8.4: atomic compare as minimum, maximum and conditional exchange.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int lo = 1000, hi = -1000, first = -1, winners = 0; unsigned ulo = ~0u; long top = 0;
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (int i = 0; i < 400; i++) {
    int x = i * 37 % 401 - 200, old;
#pragma omp atomic compare
    if (x < lo) { lo = x; }
#pragma omp atomic compare
    hi = hi < x ? x : hi;
#pragma omp atomic compare
    if (ulo > (unsigned)i + 7) { ulo = (unsigned)i + 7; }
    long y = i * 10L;
#pragma omp atomic compare seq_cst
    if (top < y) { top = y; }
#pragma omp atomic compare capture
    { old = first; if (first == -1) { first = i; } }
    if (old == -1) {
#pragma omp atomic
      winners++;
    }
  }
  CHECK(lo == -200 && hi == 200 && ulo == 7 && top == 3990 && winners == 1 && first >= 0);
  return DONE();
}
