// OpenMP 5.2, section 15.8.5: a flush between a store and a load: of two threads at most one misses the other's flag.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int x = 0, y = 0, a = 0, b = 0, both_missed = 0;
#pragma omp parallel num_threads(2)
  for (int round = 0; round < 300; round++) {
    if (omp_get_thread_num() == 0) {
#pragma omp atomic write
      x = 1;
#pragma omp flush
#pragma omp atomic read
      a = y;
    } else {
#pragma omp atomic write
      y = 1;
#pragma omp flush
#pragma omp atomic read
      b = x;
    }
#pragma omp barrier
#pragma omp single
    {
      if (a == 0 && b == 0) both_missed++;
      x = y = a = b = 0;
    }
  }
  CHECK(both_missed == 0);
  return DONE();
}
