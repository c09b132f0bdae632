// OpenMP 5.2, section 10.1.3: proc_bind is accepted with each policy and changes no result.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=52
#include "../../check.h"
int main(void) {
  int total = 0;
#pragma omp parallel proc_bind(close) num_threads(2) reduction(+ : total)
  total += 1;
#pragma omp parallel proc_bind(spread) num_threads(3) reduction(+ : total)
  total += 10;
#pragma omp parallel proc_bind(primary) num_threads(4) reduction(+ : total)
  total += 100;
#pragma omp parallel proc_bind(master) num_threads(2) reduction(+ : total)
  total += 1000;
  CHECK(total == 2432);
  return DONE();
}
