// OpenMP 5.2, section 13.5: target data around several regions keeps the data on the device.
#include "../../check.h"
int main(void) {
  enum { N = 256 };
  static double a[N], b[N];
  for (int i = 0; i < N; i++) a[i] = i, b[i] = 0;
#pragma omp target data map(to : a) map(from : b)
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) b[i] = 2 * a[i];
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) b[i] += 1;
    CHECK(b[5] == 0);
  }
  for (int i = 0; i < N; i++) CHECK(b[i] == 2 * i + 1);
  return DONE();
}
