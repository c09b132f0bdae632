// OpenMP 5.2, section 11.5.3: static schedules with chunks, in a region's own parallel loops.
#include "../../check.h"
int main(void) {
  enum { N = 101 };
  int v[N] = {0}, w[N] = {0};
#pragma omp target map(tofrom : v, w)
  {
#pragma omp parallel for schedule(static, 4) num_threads(12)
    for (int i = 0; i < N; i++) v[i] += i;
#pragma omp parallel num_threads(12)
    {
#pragma omp for schedule(static) nowait
      for (int i = N - 1; i >= 0; i -= 2) w[i] += 1;
#pragma omp for schedule(static, 1)
      for (int i = 1; i < N; i += 2) w[i] += 2;
    }
  }
  for (int i = 0; i < N; i++) CHECK(v[i] == i && w[i] == 1 + i % 2);
  return DONE();
}
