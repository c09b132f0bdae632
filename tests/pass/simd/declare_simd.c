// OpenMP 5.2, section 7.7: declare simd functions keep their scalar meaning when called from simd and other loops.
// stdout: ok
// levels: O0 O2
// flags: -Wno-pass-failed
#include "../../check.h"
#pragma omp declare simd uniform(scale) notinbranch
#pragma omp declare simd linear(i : 1) inbranch
static int value(int i, int scale) { return i * scale + 1; }
int main(void) {
  int v[100];
#pragma omp parallel for simd num_threads(2)
  for (int i = 0; i < 100; i++) v[i] = value(i, 3);
  for (int i = 0; i < 100; i++) CHECK(v[i] == 3 * i + 1);
  return DONE();
}
