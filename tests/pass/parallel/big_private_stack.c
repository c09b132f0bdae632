// OpenMP 5.2, section 10.1: a private array of 512 KiB fits on a worker's stack of the default size.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  static char original[512 * 1024];
  long sums[3];
  char big[512 * 1024];
  memset(original, 3, sizeof original);
#pragma omp parallel num_threads(3) private(big)
  {
    memcpy(big, original, sizeof big);
    big[omp_get_thread_num()] = 0;
    long sum = 0;
    for (unsigned i = 0; i < sizeof big; i += 1024) sum += big[i];
    sums[omp_get_thread_num()] = sum;
  }
  CHECK(sums[0] == 512 * 3 - 3 && sums[1] == 512 * 3 && sums[2] == 512 * 3);
  return DONE();
}
