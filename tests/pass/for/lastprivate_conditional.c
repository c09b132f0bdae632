// OpenMP 5.2, section 5.4.5: lastprivate(conditional:) keeps the value of the last iteration that assigned.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=50
#include "../../check.h"
int main(void) {
  int found = -1;
#pragma omp parallel for num_threads(4) schedule(static) lastprivate(conditional : found)
  for (int i = 0; i < 500; i++)
    if (i % 37 == 5) found = i;
  CHECK(found == 486);
  return DONE();
}
