// OpenMP 5.2, section 5.8.1: implicit mappings: arrays and structures tofrom, scalars firstprivate.
#include "../../check.h"
struct S { int a, b[3]; };
int main(void) {
  int v[4] = {1, 2, 3, 4}, x = 5;
  struct S s = {6, {7, 8, 9}};
#pragma omp target
  {
    v[0] += x;
    x = 100;
    s.a++;
    s.b[2] = v[3];
  }
  CHECK(v[0] == 6 && x == 5 && s.a == 7 && s.b[2] == 4 && s.b[0] == 7);
  return DONE();
}
