// A device that runs out of memory gives its variables back: constants, which the host may not write, and a variable
// behind that of an indirect function.
// flags: -fopenmp-version=51
// env: OMPVM_EMULATED_MEMORY=3M
// options: --device=emulated
// not-on: processors
#include "../../check.h"
#include <stdlib.h>
#pragma omp begin declare target
static const int table[4] = {1, 2, 3, 4};
int before = 1, after = 5;
#pragma omp end declare target
int twice(int n);
#pragma omp begin declare target indirect
int twice(int n) { return 2 * n; }
#pragma omp end declare target
int main(void) {
  int first = 0, dev = omp_get_default_device();
#pragma omp target map(from : first)
  {
    first = table[2];
    before = 4;
    after = 7;
  }
  CHECK(first == 3);
  int *kept = omp_target_alloc(64, dev);
  CHECK(kept);
  char *p = calloc(16, 1 << 20);
#pragma omp target map(tofrom : p[0 : 16 << 20])
  p[5] = 1;
  CHECK(p[5] == 1);
  CHECK(before == 4 && after == 7);
  CHECK(table[2] == 3);
  CHECK(twice(4) == 8);
  // A block of the device stays its own.
  int v[4] = {1, 2, 3, 4}, w[4] = {0};
  CHECK(omp_target_memcpy(kept, v, sizeof v, 0, 0, dev, omp_get_initial_device()) == 0);
  CHECK(omp_target_memcpy(w, kept, sizeof w, 0, 0, omp_get_initial_device(), dev) == 0);
  CHECK(w[3] == 4);
  omp_target_free(kept, dev);
  free(p);
  return DONE();
}
