// OpenMP 5.2, section 21.2.2: OMP_STACKSIZE=24M lets a worker hold a private array of 16 MiB.
// stdout: ok
// levels: O0 O2
// env: OMP_STACKSIZE=24M
#include "../../check.h"
__attribute__((noinline)) static long fill(void) {
  volatile char big[16 << 20];
  long sum = 0;
  for (long i = 0; i < 16 << 20; i += 4096) big[i] = 1;
  for (long i = 0; i < 16 << 20; i += 4096) sum += big[i];
  return sum;
}
int main(void) {
  long sum = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) sum = fill();
  CHECK(sum == 4096);
  return DONE();
}
