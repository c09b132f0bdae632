// OpenMP 5.2, section 13.9: an update whose condition is false does nothing; with present the data must be mapped; without, it need not be.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int v[4] = {1, 2, 3, 4}, other[4] = {0};
#pragma omp target update to(other)
#pragma omp target enter data map(to : v)
  for (int k = 0; k < 2; k++) {
#pragma omp target
    v[0] += 10;
#pragma omp target update from(present : v) if (k == 1)
    CHECK(v[0] == (k ? 21 : 1));
  }
#pragma omp target update from(other)
  CHECK(other[0] == 0);
#pragma omp target exit data map(delete : v)
  return DONE();
}
