// OpenMP 5.2, section 12.5: an undeferred task: it is complete when its construct ends, tied or not; its tasks need not be.
// native: libomp 19 and 22 abort on untied with if
// stdout: ok
#include "../../check.h"
int main(void) {
  int x = 0, later = 0, parts = 0;
#pragma omp task shared(x) if (0)
  {
    x = 1;
    CHECK(omp_in_explicit_task());
  }
  CHECK(x == 1 && !omp_in_explicit_task());
#pragma omp parallel shared(later, parts)
#pragma omp single
  {
#pragma omp task if (0) shared(later)
    {
#pragma omp task shared(later)
#pragma omp atomic
      later++;
    }
#pragma omp task untied if (0) shared(parts)
    {
      parts = 1;
#pragma omp taskyield
      parts++;
#pragma omp taskyield
      parts++;
    }
    CHECK(parts == 3);
  }
  CHECK(later == 1);
  return DONE();
}
