// Vector values, 128-bit integers and long double captured and computed in regions.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
typedef int v8 __attribute__((vector_size(32))); typedef double v2 __attribute__((vector_size(16)));
int main(void) {
  v8 a = {1, 2, 3, 4, 5, 6, 7, 8}, sums[3]; v2 d = {0.5, 2}; __int128 wide = (__int128)1 << 90; long double l = 0x1p-70L;
#pragma omp parallel num_threads(3) firstprivate(a, d, wide, l)
  {
    int me = omp_get_thread_num();
    a = a * me + (a > 4);
    sums[me] = a;
    d *= d;
    CHECK(d[0] == 0.25 && d[1] == 4 && wide * 3 / 3 == (__int128)1 << 90 && (long)(wide >> 88) == 4 && (1 + l) - 1 != l && l * 0x1p70L == 1);
  }
  for (int t = 0; t < 3; t++)
    for (int i = 0; i < 8; i++) CHECK(sums[t][i] == (i + 1) * t - (i + 1 > 4));
  return DONE();
}
