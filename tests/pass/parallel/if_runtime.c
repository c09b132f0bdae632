// OpenMP 5.2, section 3.4: the if clause is evaluated anew at each encounter, with the parallel: modifier too.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int total = 0;
  for (int i = 0; i < 10; i++) {
#pragma omp parallel if (parallel : i % 2) num_threads(3) reduction(+ : total)
    total += omp_get_num_threads();
  }
  CHECK(total == 5 * 1 + 5 * 9);
  return DONE();
}
