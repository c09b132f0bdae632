// OpenMP 5.2, section 12.7: taskyield lets other tasks run: one that waits for a flag sees another set it, on any number of threads.
// stdout: ok
#include "../../check.h"
int main(void) {
  int set = 0, met = 0;
#pragma omp taskyield
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 4; i++) {
#pragma omp task shared(met)
      {
#pragma omp taskyield
#pragma omp atomic
        met++;
      }
    }
#pragma omp taskwait
    CHECK(met == 4);
    if (omp_get_num_threads() > 1) {
#pragma omp task shared(set)
#pragma omp atomic write
      set = 1;
      int seen = 0;
      for (int turn = 0; turn < 20000000 && !seen; turn++) {
#pragma omp taskyield
#pragma omp atomic read
        seen = set;
      }
      CHECK(seen);
    }
  }
  return DONE();
}
