// OpenMP 5.2, sections 13.8 and 15.9.5: target tasks with dependences on the devices of all ranks.
// options: --device=emulated
#include "../check.h"
enum { BLOCKS = 12, SIZE = 64 };
static int v[BLOCKS][SIZE];
int main(void) {
  int n = omp_get_num_devices(), where[BLOCKS];
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int step = 0; step < 3; step++)
    for (int b = 0; b < BLOCKS; b++) {
      int *block = v[b];
#pragma omp target device((b + step) % n) nowait depend(inout : v[b]) map(tofrom : block[:SIZE], where[b : 1])
      {
        where[b] = omp_get_device_num();
        for (int i = 0; i < SIZE; i++) block[i] = 3 * block[i] + b + step;
      }
    }
  for (int b = 0; b < BLOCKS; b++) {
    int want = 0;
    for (int step = 0; step < 3; step++) want = 3 * want + b + step;
    CHECK(where[b] == (b + 2) % n);
    for (int i = 0; i < SIZE; i++) CHECK(v[b][i] == want);
  }
  return DONE();
}
