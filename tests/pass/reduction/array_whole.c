// OpenMP 5.2, section 5.5.8: a whole array as the reduction variable.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int bins[10] = {100};
#pragma omp parallel for num_threads(4) reduction(+ : bins)
  for (int i = 0; i < 1000; i++) bins[i * i % 10]++;
  CHECK(bins[0] == 200 && bins[1] == 200 && bins[2] == 0 && bins[4] == 200 && bins[5] == 100 && bins[6] == 200 && bins[9] == 200);
  return DONE();
}
