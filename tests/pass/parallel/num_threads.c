// OpenMP 5.2, section 10.1.1: num_threads fixes the team size, and thread numbers are 0..n-1, each once.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  for (int want = 1; want <= 6; want++) {
    int seen[8] = {0}, sizes = 0;
#pragma omp parallel num_threads(want)
    {
      int me = omp_get_thread_num();
      CHECK(omp_get_num_threads() == want);
#pragma omp atomic
      seen[me]++;
#pragma omp atomic
      sizes++;
    }
    CHECK(sizes == want);
    for (int i = 0; i < 8; i++) CHECK(seen[i] == (i < want));
  }
  return DONE();
}
