// OpenMP 5.2, sections 13.8 and 18.7: the devices of all ranks have numbers of their own.
// options: --device=emulated:2
#include "../check.h"
int global = 5;
#pragma omp declare target(global)
int main(void) {
  int n = omp_get_num_devices(), v[100];
  CHECK(n >= 4 && n % 2 == 0);
  for (int d = 0; d < n; d++) {
    int where = -1, initial = -1, before = -1;
    for (int i = 0; i < 100; i++) v[i] = i;
#pragma omp target device(d) map(tofrom : v) map(from : where, initial, before)
    {
      where = omp_get_device_num();
      initial = omp_is_initial_device();
      before = global;
      global += d;
      for (int i = 0; i < 100; i++) v[i] += d;
    }
    CHECK(where == d && initial == 0 && before == 5);
    for (int i = 0; i < 100; i++) CHECK(v[i] == i + d);
  }
  // Each device has its own copy of the variable.
  for (int d = 0; d < n; d++) {
#pragma omp target update from(global) device(d)
    CHECK(global == 5 + d);
  }
  return DONE();
}
