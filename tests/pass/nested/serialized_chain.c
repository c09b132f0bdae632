// OpenMP 5.2, section 10.1: many serialized levels inside each other keep count and unwind properly.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static void down(int depth) {
  CHECK(omp_get_level() == depth);
  if (depth == 12) return;
#pragma omp parallel if (0)
  {
    CHECK(omp_get_thread_num() == 0 && omp_get_num_threads() == 1);
    down(depth + 1);
    CHECK(omp_get_level() == depth + 1);
  }
  CHECK(omp_get_level() == depth);
}
int main(void) {
  down(0);
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    down(1);
    CHECK(omp_get_thread_num() == me);
  }
  return DONE();
}
