// OpenMP 5.2, sections 13.8 and 18.8: large arrays to, from and between devices of ranks.
// options: --device=emulated
#include "../check.h"
#include <stdlib.h>
enum { N = 1500001 };
int main(void) {
  int n = omp_get_num_devices(), h = omp_get_initial_device();
  double *v = malloc(N * sizeof *v), *w = malloc(N * sizeof *w);
  for (int d = 0; d < n; d++) {
    for (int i = 0; i < N; i++) v[i] = i, w[i] = 0;
#pragma omp target teams distribute parallel for device(d) map(to : v[:N]) map(from : w[:N])
    for (int i = 0; i < N; i++) w[i] = 2 * v[i] + d;
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += w[i] != 2.0 * i + d;
    CHECK(wrong == 0);
  }
  double *a = omp_target_alloc(N * sizeof *a, 0), *b = omp_target_alloc(N * sizeof *b, n - 1);
  CHECK(a && b);
  CHECK(omp_target_memcpy(a, v, N * sizeof *v, 0, 0, 0, h) == 0);
  CHECK(omp_target_memcpy(b, a, (N - 3) * sizeof *v, 0, 3 * sizeof *v, n - 1, 0) == 0);
  CHECK(omp_target_memcpy(w, b, (N - 3) * sizeof *v, 0, 0, h, n - 1) == 0);
  int wrong = 0;
  for (int i = 0; i < N - 3; i++) wrong += w[i] != i + 3;
  CHECK(wrong == 0);
  omp_target_free(a, 0);
  omp_target_free(b, n - 1);
  free(v), free(w);
  return DONE();
}
