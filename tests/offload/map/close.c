// OpenMP 5.2, section 5.8.3: the close modifier is a placement hint, together with others.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int v[100], s = 0;
  for (int i = 0; i < 100; i++) v[i] = i;
#pragma omp target data map(close, tofrom : v)
  {
#pragma omp target map(always, close, tofrom : v) map(tofrom : s)
    for (int i = 0; i < 100; i++) s += v[i], v[i]++;
    CHECK(v[0] == 1 && v[99] == 100); // always: copied although it was mapped already
    v[0] = -5;
#pragma omp target map(present, always, to : v) map(tofrom : s)
    s += v[0];
  }
  CHECK(s == 4950 - 5);
  return DONE();
}
