// OpenMP 5.2, section 16: a cancelled taskgroup starts no more of its tasks; other groups continue.
// env: OMP_CANCELLATION=true
// stdout: ok
#include "../../check.h"
int main(void) {
  int begun = 0, other = 0, after = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task shared(other)
#pragma omp atomic
    other++;
#pragma omp taskgroup
    for (int i = 0; i < 5000; i++) {
#pragma omp task shared(begun, after)
      {
        int mine;
#pragma omp atomic capture
        mine = ++begun;
        if (mine == 1) {
#pragma omp cancel taskgroup
#pragma omp atomic
          after++;
        }
#pragma omp cancellation point taskgroup
      }
    }
    CHECK(begun >= 1 && begun <= 5000 && after == 0);
#pragma omp taskgroup
    {
#pragma omp task shared(other)
#pragma omp atomic
      other++;
    }
  }
  CHECK(other == 2);
  return DONE();
}
