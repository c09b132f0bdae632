// OpenMP 5.2, section 21.1.3: OMP_THREAD_LIMIT=3 bounds the threads of the whole contention group.
// stdout: ok
// levels: O0 O2
// env: OMP_THREAD_LIMIT=3
// env: OMP_NUM_THREADS=2
#include "../../check.h"
int main(void) {
  int most = 0, all = 0;
  CHECK(omp_get_thread_limit() == 3);
#pragma omp parallel num_threads(8)
  {
#pragma omp atomic
    most++;
  }
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
#pragma omp atomic
  all++;
  CHECK(most >= 1 && most <= 3 && all >= 1 && all <= 4);
  return DONE();
}
