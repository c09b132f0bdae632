// OpenMP 5.2, section 12.5.1: affinity clauses are hints, also with iterators.
// flags: -fopenmp-version=50
// stdout: ok
#include "../../check.h"
int main(void) {
  int x = 0, v[10] = {0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; i++) {
#pragma omp task shared(x, v) affinity(v[i]) affinity(iterator(k = 0 : i) : v[k])
    {
      v[i] = i;
#pragma omp atomic
      x++;
    }
  }
  CHECK(x == 10 && v[9] == 9);
  return DONE();
}
