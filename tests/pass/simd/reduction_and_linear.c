// OpenMP 5.2, section 10.4: simd with reduction, linear, lastprivate, safelen, simdlen and aligned.
// stdout: ok
// levels: O0 O2
// flags: -Wno-pass-failed
#include "../../check.h"
int main(void) {
  _Alignas(64) float a[128], b[128]; float sum = 0; int k = 5, last = 0, i;
  for (i = 0; i < 128; i++) a[i] = i, b[i] = 2;
#pragma omp simd reduction(+ : sum) linear(k : 2) lastprivate(last) safelen(16) simdlen(8) aligned(a, b : 64)
  for (i = 0; i < 128; i++) {
    sum += a[i] * b[i];
    b[i] = k;
    last = i;
    k += 2;
  }
  CHECK(sum == 127 * 128 && k == 5 + 256 && last == 127 && i == 128);
  for (i = 0; i < 128; i++) CHECK(b[i] == 5 + 2 * i);
  return DONE();
}
