// OpenMP 5.2, section 15.1: critical with each synchronization hint still excludes.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  long a = 0, b = 0, c = 0, d = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 200; i++) {
#pragma omp critical(h1) hint(omp_sync_hint_contended)
    a++;
#pragma omp critical(h2) hint(omp_sync_hint_uncontended)
    b++;
#pragma omp critical(h3) hint(omp_sync_hint_speculative)
    c++;
#pragma omp critical(h4) hint(omp_sync_hint_contended | omp_sync_hint_nonspeculative)
    d++;
  }
  CHECK(a == 800 && b == 800 && c == 800 && d == 800);
  return DONE();
}
