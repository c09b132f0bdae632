// OpenMP 5.2, section 5.8.3: always copies back at each end, even if the count is not zero.
#include "../../check.h"
int main(void) {
  int v[4] = {1, 2, 3, 4};
#pragma omp target enter data map(to : v)
  for (int round = 0; round < 3; round++) {
    v[0] = 100 * round;
#pragma omp target map(always, to : v[0 : 1]) map(always, from : v[3 : 1])
    v[3] = v[0] + round;
    CHECK(v[3] == 101 * round && v[1] == 2);
  }
#pragma omp target exit data map(always, from : v)
  CHECK(v[0] == 200 && v[3] == 202);
  return DONE();
}
