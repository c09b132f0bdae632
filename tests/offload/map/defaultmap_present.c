// OpenMP 5.2, section 5.8.7: defaultmap with present, firstprivate, to and none, by category.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int v[4] = {1, 2, 3, 4}, *p = v, s = 5, seen = 0;
#pragma omp target data map(tofrom : v)
  {
#pragma omp target defaultmap(present : aggregate) defaultmap(firstprivate : scalar) map(from : seen)
    {
      seen = v[3] + s;
      s = 0;
      v[0] = 9;
    }
#pragma omp target defaultmap(none) map(tofrom : s) map(to : v)
    s += v[0];
#pragma omp target defaultmap(tofrom : scalar)
    s += 100;
#pragma omp target defaultmap(default : pointer) map(from : seen)
    seen = p[0];
    CHECK(seen == 9);
  }
  CHECK(s == 114 && v[0] == 9);
  return DONE();
}
