// OpenMP 5.2, section 5.5.8: a reduction of an inner region into a reduction variable of the outer one.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  long sum = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    long base = 1000 * (omp_get_thread_num() + 1);
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 10; i++) sum += base + i;
  }
  CHECK(sum == 10 * 6000 + 3 * 45);
  return DONE();
}
