// OpenMP 5.2, section 10.1: a region with sequential parts between parallel ones.
#include "../../check.h"
int main(void) {
  int v[64], before = 0, after = 0, n = 0;
  for (int i = 0; i < 64; i++) v[i] = 0;
#pragma omp target map(tofrom : v, before, after, n)
  {
    before = omp_get_num_threads();
    for (int k = 0; k < 3; k++) {
#pragma omp parallel num_threads(8)
      {
        if (omp_get_thread_num() == 0) n = omp_get_num_threads();
#pragma omp for
        for (int i = 0; i < 64; i++) v[i] += k;
      }
      v[0] += 100;
    }
    after = omp_in_parallel();
  }
  CHECK(before == 1 && after == 0 && n >= 1 && n <= 8);
  for (int i = 0; i < 64; i++) CHECK(v[i] == 3 + (i == 0 ? 300 : 0));
  return DONE();
}
