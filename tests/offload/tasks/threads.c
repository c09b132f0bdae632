// OpenMP 5.2, section 13.8: several threads run regions at the same time.
#include "../../check.h"
int main(void) {
  int ok[4] = {0}, shared[100] = {0};
#pragma omp target data map(tofrom : shared)
#pragma omp parallel num_threads(4)
  {
    int t = omp_get_thread_num(), v[50];
    for (int k = 0; k < 5; k++) {
      for (int i = 0; i < 50; i++) v[i] = t;
#pragma omp target map(tofrom : v)
      for (int i = 0; i < 50; i++) v[i] = 100 * v[i] + shared[i] * 0;
      int good = 1;
      for (int i = 0; i < 50; i++) good &= v[i] == 100 * t;
      ok[t] += good;
#pragma omp target firstprivate(t)
      shared[t] += 1;
    }
  }
  for (int t = 0; t < omp_get_max_threads() && t < 4; t++) CHECK(ok[t] == 5 && shared[t] == 5);
  return DONE();
}
