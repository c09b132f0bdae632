// OpenMP 5.2, section 13.8: nowait and depend order regions with each other and with the host's tasks.
#include "../../check.h"
int main(void) {
  int v[100], sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task depend(out : v)
    for (int i = 0; i < 100; i++) v[i] = i;
#pragma omp target nowait depend(inout : v) map(tofrom : v)
    for (int i = 0; i < 100; i++) v[i] *= 2;
#pragma omp target teams distribute parallel for nowait depend(inout : v) map(tofrom : v)
    for (int i = 0; i < 100; i++) v[i] += 1;
#pragma omp task depend(in : v)
    for (int i = 0; i < 100; i++) sum += v[i];
  }
  CHECK(sum == 2 * 4950 + 100);
  return DONE();
}
