// OpenMP 5.2, section 5.6: inclusive and exclusive scans of a worksharing loop within a team of the device. (Without optimization clang 22 crashes.)
// levels: O2
#include "../../check.h"
int main(void) {
  int a[64], b[64], c[64], s = 0, t = 0;
  for (int i = 0; i < 64; i++) a[i] = i + 1;
#pragma omp target map(to : a) map(from : b, c) map(tofrom : s, t)
  {
#pragma omp parallel for reduction(inscan, + : s) num_threads(16)
    for (int i = 0; i < 64; i++) {
      s += a[i];
#pragma omp scan inclusive(s)
      b[i] = s;
    }
#pragma omp parallel for reduction(inscan, + : t) num_threads(16)
    for (int i = 0; i < 64; i++) {
      c[i] = t;
#pragma omp scan exclusive(t)
      t += a[i];
    }
  }
  for (int i = 0; i < 64; i++) CHECK(b[i] == (i + 1) * (i + 2) / 2 && c[i] == i * (i + 1) / 2);
  CHECK(s == 2080 && t == 2080);
  return DONE();
}
