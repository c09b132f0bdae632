// OpenMP 5.2, section 7.8: another version of a function for devices, by declare variant.
// flags: -fopenmp-version=51
#include "../../check.h"
int on_device(void) { return 2; }
#pragma omp declare target to(on_device) device_type(nohost)
#pragma omp declare variant(on_device) match(device = {kind(nohost)})
int where(void) { return 1; }
#pragma omp declare target to(where)
int main(void) {
  int d = 0;
#pragma omp target map(from : d)
  d = where();
  CHECK(d == 2 && where() == 1);
  return DONE();
}
