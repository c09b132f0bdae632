// OpenMP 5.2, section 11.5.3: dynamic and guided schedules on the device.
#include "../../check.h"
int main(void) {
  enum { N = 500 };
  int a[N], b[N], c[N];
  for (int i = 0; i < N; i++) a[i] = b[i] = c[i] = 0;
#pragma omp target parallel for schedule(dynamic, 3) map(tofrom : a)
  for (int i = 0; i < N; i++) a[i]++;
#pragma omp target teams distribute parallel for schedule(guided) map(tofrom : b)
  for (int i = 0; i < N; i++) b[i]++;
#pragma omp target parallel for schedule(runtime) map(tofrom : c)
  for (int i = 0; i < N; i++) c[i]++;
  for (int i = 0; i < N; i++) CHECK(a[i] == 1 && b[i] == 1 && c[i] == 1);
  return DONE();
}
