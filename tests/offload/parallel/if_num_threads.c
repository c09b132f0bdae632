// OpenMP 5.2, section 10.1: if and num_threads of parallel regions in a region.
#include "../../check.h"
int main(void) {
  int n[4] = {0};
#pragma omp target map(tofrom : n)
  {
    for (int k = 0; k < 4; k++) {
#pragma omp parallel if (k > 0) num_threads(1 << k)
      if (omp_get_thread_num() == 0) n[k] = omp_get_num_threads();
    }
  }
  CHECK(n[0] == 1);
  for (int k = 1; k < 4; k++) CHECK(n[k] >= 1 && n[k] <= 1 << k);
  return DONE();
}
