// OpenMP 5.2, section 5.4.4: values of many sizes reach a region as they are.
#include "../../check.h"
int main(void) {
  signed char a = -3;
  unsigned short b = 65000;
  long long c = -(1LL << 60);
  float f = 1.5f;
  double g = 1e300;
  _Bool yes = 1;
  int ok = 0;
#pragma omp target map(from : ok)
  ok = a == -3 && b == 65000 && c == -(1LL << 60) && f == 1.5f && g == 1e300 && yes;
  CHECK(ok);
  return DONE();
}
