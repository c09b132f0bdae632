// OpenMP 5.2, section 5.8.7: defaultmap.
#include "../../check.h"
int main(void) {
  int x = 1, v[2] = {1, 2}, host = 1;
#pragma omp target defaultmap(tofrom : scalar)
  {
    host = omp_is_initial_device();
    x++;
    v[1] = x;
  }
  CHECK(!host && x == 2 && v[1] == 2);
#pragma omp target defaultmap(firstprivate : scalar) defaultmap(to : aggregate)
  {
    x++;
    v[0] = 17;
  }
  CHECK(x == 2 && v[0] == 1);
  return DONE();
}
