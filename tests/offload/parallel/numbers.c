// OpenMP 5.2, section 18.2: every thread of a device's team has a unique number.
#include "../../check.h"
int main(void) {
  int seen[1024] = {0}, n = 0, level = 0;
#pragma omp target parallel num_threads(32) map(tofrom : seen, n, level)
  {
    seen[omp_get_thread_num()]++;
#pragma omp master
    n = omp_get_num_threads(), level = omp_get_level();
  }
  CHECK(n >= 1 && n <= 32 && level == 1);
  for (int i = 0; i < 1024; i++) CHECK(seen[i] == (i < n));
  return DONE();
}
