// OpenMP 5.2, section 11.3: sections and single on the device.
#include "../../check.h"
int main(void) {
  int a = 0, b = 0, c = 0, once = 0;
#pragma omp target parallel num_threads(8) map(tofrom : a, b, c, once)
  {
#pragma omp sections
    {
#pragma omp section
      a = 1;
#pragma omp section
      b = 2;
#pragma omp section
      c = 3;
    }
#pragma omp single
    once++;
  }
  CHECK(a == 1 && b == 2 && c == 3 && once == 1);
  return DONE();
}
