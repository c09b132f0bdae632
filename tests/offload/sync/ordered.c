// OpenMP 5.2, section 15.10: ordered on the device.
#include "../../check.h"
int main(void) {
  int v[40], at = 0;
#pragma omp target parallel for ordered num_threads(8) map(tofrom : v, at)
  for (int i = 0; i < 40; i++) {
#pragma omp ordered
    v[at++] = i;
  }
  for (int i = 0; i < 40; i++) CHECK(v[i] == i);
  return DONE();
}
