// OpenMP 5.2, section 15.8.1: atomics with every memory order clause and hints.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int a = 0, b = 0, c = 0, d = 0, e = 0, x;
#pragma omp parallel num_threads(4) private(x)
  for (int i = 0; i < 100; i++) {
#pragma omp atomic seq_cst
    a++;
#pragma omp atomic update relaxed
    b++;
#pragma omp atomic update release hint(omp_sync_hint_contended)
    c++;
#pragma omp atomic capture acq_rel
    x = d++;
    CHECK(x >= 0 && x < 400);
#pragma omp atomic capture acquire
    x = ++e;
#pragma omp atomic read acquire
    x = a;
    CHECK(x > i);
#pragma omp atomic write release
    x = 3;
  }
  CHECK(a == 400 && b == 400 && c == 400 && d == 400 && e == 400);
  return DONE();
}
