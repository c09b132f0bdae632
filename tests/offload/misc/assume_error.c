// OpenMP 5.2, sections 8.2 to 8.4: assume, assumes, nothing and error within and around regions do not change the results.
// flags: -fopenmp-version=51
#include "../../check.h"
#pragma omp assumes no_openmp_routines ext_nothing_special
#pragma omp begin declare target
#pragma omp begin assumes no_parallelism
static int inner(int x) { return x + 1; }
#pragma omp end assumes
#pragma omp end declare target
int main(void) {
  int v[32];
#pragma omp target teams distribute parallel for map(from : v)
  for (int i = 0; i < 32; i++) {
#pragma omp nothing
#pragma omp assume holds(i >= 0) no_openmp
    v[i] = inner(i);
  }
  for (int i = 0; i < 32; i++) CHECK(v[i] == i + 1);
  return DONE();
}
