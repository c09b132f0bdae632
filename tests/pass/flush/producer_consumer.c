// OpenMP 5.2, section 15.8.5: a producer hands values to a consumer through a flag, with release and acquire flushes.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=50
#include "../../check.h"
int main(void) {
  int data = 0, flag = 0; long sum = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_num_threads() == 2) {
    for (int i = 1; i <= 100; i++) {
      int f = 0;
      if (omp_get_thread_num() == 0) {
        SPIN_UNTIL(({ _Pragma("omp atomic read") f = flag; f == 0; }));
        data = i;
#pragma omp flush release
#pragma omp atomic write
        flag = 1;
      } else {
        SPIN_UNTIL(({ _Pragma("omp atomic read") f = flag; f == 1; }));
#pragma omp flush acquire
        sum += data;
#pragma omp flush acq_rel
#pragma omp atomic write
        flag = 0;
      }
    }
  }
  CHECK(sum == 5050);
  return DONE();
}
