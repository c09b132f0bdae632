// OpenMP 5.2, section 15.10.2: ordered simd inside a simd loop keeps its order.
// stdout: ok
// levels: O0 O2
// flags: -Wno-pass-failed
#include "../../check.h"
int main(void) {
  int index[64], count[4] = {0}, order[64], n = 0;
  for (int i = 0; i < 64; i++) index[i] = i % 4;
#pragma omp simd
  for (int i = 0; i < 64; i++) {
    int k = index[i];
#pragma omp ordered simd
    {
      count[k]++;
      order[n++] = i;
    }
  }
  CHECK(count[0] == 16 && count[3] == 16 && n == 64);
  for (int i = 0; i < 64; i++) CHECK(order[i] == i);
  return DONE();
}
