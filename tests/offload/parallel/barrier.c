// OpenMP 5.2, section 15.3.1: a barrier within the team of a region.
#include "../../check.h"
int main(void) {
  int v[32] = {0}, w[32] = {0}, n = 0;
#pragma omp target parallel num_threads(32) map(tofrom : v, w, n)
  {
    int t = omp_get_thread_num(), all = omp_get_num_threads();
    if (t == 0) n = all;
    v[t] = t + 1;
#pragma omp barrier
    w[t] = v[(t + 1) % all];
#pragma omp barrier
    v[t] = w[t];
  }
  for (int t = 0; t < n; t++) CHECK(v[t] == (t + 1) % n + 1);
  return DONE();
}
