// OpenMP 5.2, section 11.3: sections with nowait, so that the two sides of a handshake may be in different constructs.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int flag = 0, seen = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp sections nowait
    {
#pragma omp section
      if (omp_get_num_threads() == 2) {
        int f = 0;
        SPIN_UNTIL(({ _Pragma("omp atomic read") f = flag; f; }));
        seen = f;
      }
    }
#pragma omp single nowait
    {
#pragma omp atomic write
      flag = 1;
    }
  }
  CHECK(seen == 1);
  return DONE();
}
