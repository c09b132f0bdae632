// A stencil over data that stays on the device.
#include "../../check.h"
int main(void) {
  enum { N = 64 };
  static double a[N], b[N], c[N], d[N];
  for (int i = 0; i < N; i++) a[i] = c[i] = i % 7, b[i] = d[i] = 0;
#pragma omp target data map(tofrom : a) map(alloc : b)
  for (int t = 0; t < 10; t++) {
#pragma omp target teams distribute parallel for
    for (int i = 1; i < N - 1; i++) b[i] = 0.25 * (a[i - 1] + 2 * a[i] + a[i + 1]);
#pragma omp target teams distribute parallel for
    for (int i = 1; i < N - 1; i++) a[i] = b[i];
  }
  for (int t = 0; t < 10; t++) {
    for (int i = 1; i < N - 1; i++) d[i] = 0.25 * (c[i - 1] + 2 * c[i] + c[i + 1]);
    for (int i = 1; i < N - 1; i++) c[i] = d[i];
  }
  for (int i = 0; i < N; i++) CHECK(a[i] - c[i] < 1e-12 && c[i] - a[i] < 1e-12);
  return DONE();
}
