// OpenMP 5.2, sections 13.8 and 15.9.5: a chain of regions on two devices and tasks of the host, by dependences alone.
// options: --device=emulated:2
#include "../../check.h"
int main(void) {
  enum { N = 50 };
  int v[N], where[4] = {-1, -1, -1, -1};
  for (int i = 0; i < N; i++) v[i] = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int k = 0; k < 4; k++) {
#pragma omp target device(k % 2) nowait depend(inout : v) map(tofrom : v, where[k : 1])
    {
      where[k] = omp_get_device_num();
      for (int i = 0; i < N; i++) v[i] = 2 * v[i] + k;
    }
#pragma omp task depend(inout : v)
    for (int i = 0; i < N; i++) v[i] += 100;
  }
  int want = 0;
  for (int k = 0; k < 4; k++) {
    want = 2 * want + k + 100;
    CHECK(where[k] == k % 2);
  }
  for (int i = 0; i < N; i++) CHECK(v[i] == want);
  return DONE();
}
