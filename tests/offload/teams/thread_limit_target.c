// OpenMP 5.2, sections 13.8 and 10.2: thread_limit of a target construct holds for its regions.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int limit = 0, threads = 0;
#pragma omp target thread_limit(8) map(from : limit, threads)
  {
    limit = omp_get_thread_limit();
#pragma omp parallel num_threads(64)
#pragma omp masked
    threads = omp_get_num_threads();
  }
  CHECK(limit >= 1 && limit <= 8 && threads >= 1 && threads <= 8);
  return DONE();
}
