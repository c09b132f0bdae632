// OpenMP 5.2, section 15.3.1: neighbors exchange values over many phases that only barriers separate.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int v[2][4] = {{0}};
#pragma omp parallel num_threads(4)
  {
    int me = omp_get_thread_num(), n = omp_get_num_threads();
    for (int phase = 0; phase < 200; phase++) {
      v[~phase & 1][me] = v[phase & 1][(me + 1) % n] + 1;
#pragma omp barrier
    }
  }
  for (int i = 0; i < 4; i++) CHECK(v[0][i] == 200);
  return DONE();
}
