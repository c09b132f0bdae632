// OpenMP 5.2, section 5.8.3: the always modifier copies although the data is present.
#include "../../check.h"
int main(void) {
  int x = 1;
#pragma omp target data map(tofrom : x)
  {
    x = 2;
#pragma omp target map(tofrom : x)
    x += 10;
    CHECK(x == 2);
#pragma omp target map(always, tofrom : x)
    x += 100;
    CHECK(x == 102);
  }
  CHECK(x == 102);
  return DONE();
}
