// OpenMP 5.2, section 5.4.7 (is_device_ptr): several pointers, with arithmetic, in combined constructs and functions.
#include "../../check.h"
static void scale(float *to, const float *from, int n, float by) {
#pragma omp target teams distribute parallel for is_device_ptr(to, from)
  for (int i = 0; i < n; i++) to[i] = by * from[i];
}
int main(void) {
  enum { N = 100 };
  int d = omp_get_default_device(), h = omp_get_initial_device();
  float *a = omp_target_alloc(2 * N * sizeof(float), d), *b = a + N, host[N];
#pragma omp target is_device_ptr(a)
  for (int i = 0; i < N; i++) a[i] = i;
  scale(b, a, N, 3);
  scale(a, b + 10, N - 10, 0.5f);
  omp_target_memcpy(host, a, sizeof host, 0, 0, h, d);
  for (int i = 0; i < N - 10; i++) CHECK(host[i] == 1.5f * (i + 10));
  CHECK(host[N - 1] == N - 1);
  omp_target_free(a, d);
  return DONE();
}
