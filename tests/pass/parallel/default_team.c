// OpenMP 5.2, section 10.1: without clauses the team has omp_get_max_threads() threads and the block runs once in each.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int runs = 0, max = omp_get_max_threads();
#pragma omp parallel
#pragma omp atomic
  runs++;
  CHECK(runs == max);
  return DONE();
}
