// OpenMP 5.2, section 15.2: mutual exclusion of an unnamed critical section, shown by a plain counter.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  long count = 0; int inside = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 500; i++) {
#pragma omp critical
    {
      CHECK(++inside == 1);
      count++;
      inside--;
    }
  }
  CHECK(count == 2000);
  return DONE();
}
