// OpenMP 5.2, section 11.5.3: two static loops of the same shape give each thread the same iterations, so nowait is safe between them.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int a[1000], b[1000], c[1000];
#pragma omp parallel num_threads(4)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 1000; i++) a[i] = i;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 1000; i++) b[i] = 2 * a[i];
#pragma omp for schedule(static)
    for (int i = 0; i < 1000; i++) c[i] = b[i] + a[i];
  }
  for (int i = 0; i < 1000; i++) CHECK(c[i] == 3 * i);
  return DONE();
}
