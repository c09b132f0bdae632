// A launch that the device refuses: the region runs on the host, and its data is not mapped afterwards.
// options: --device=emulated
#include "../../check.h"
int main(void) {
  int x = 9, dev = omp_get_default_device();
#pragma omp target teams ompx_bare num_teams(1) thread_limit(64, 32) map(tofrom : x)
  x = 10;
  CHECK(x == 10);
  CHECK(!omp_target_is_present(&x, dev));
#pragma omp target map(tofrom : x)
  x++;
  CHECK(x == 11);
  // The same within a mapping of its own: the count goes back, too.
  int y[4] = {0};
#pragma omp target data map(tofrom : y)
  {
#pragma omp target teams ompx_bare num_teams(1) thread_limit(64, 32) map(tofrom : y)
    y[1] = 1;
    CHECK(omp_target_is_present(y, dev));
  }
  CHECK(!omp_target_is_present(y, dev));
  return DONE();
}
