// OpenMP 5.2, section 5.8.3: the present modifier with present data.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int v[5] = {0};
#pragma omp target enter data map(to : v)
#pragma omp target map(present, to : v)
  v[2] = 5;
#pragma omp target exit data map(present, from : v)
  CHECK(v[2] == 5);
  return DONE();
}
