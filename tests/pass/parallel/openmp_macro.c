// OpenMP 5.2, section 3.3: _OPENMP has the version's date and guards conditional code.
// levels: O0 O2
// flags: -fopenmp-version=52
// stdout: 202111
// stdout: ok
#include "../../check.h"
int main(void) {
#ifdef _OPENMP
  printf("%d\n", _OPENMP);
#else
  CHECK(0);
#endif
  return DONE();
}
