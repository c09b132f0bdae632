// OpenMP 5.2, section 5.8.3: map types of scalars and arrays.
#include "../../check.h"
int main(void) {
  int a = 1, b = 2, c = 3, v[10], host = 1;
  for (int i = 0; i < 10; i++) v[i] = i;
#pragma omp target map(to : a) map(from : b) map(tofrom : c, v) map(from : host)
  {
    host = omp_is_initial_device();
    b = a + 10;
    a = 99;
    c++;
    for (int i = 0; i < 10; i++) v[i] *= 2;
  }
  CHECK(!host);
  CHECK(a == 1 && b == 11 && c == 4);
  for (int i = 0; i < 10; i++) CHECK(v[i] == 2 * i);
  return DONE();
}
