// OpenMP 5.2, section 5.6: inclusive and exclusive scan in a simd loop.
// stdout: ok
// levels: O0 O2
// flags: -Wno-pass-failed
#include "../../check.h"
int main(void) {
  int in[64], inc[64], exc[64], x = 0, y = 0;
  for (int i = 0; i < 64; i++) in[i] = i * i % 17;
#pragma omp simd reduction(inscan, + : x)
  for (int i = 0; i < 64; i++) {
    x += in[i];
#pragma omp scan inclusive(x)
    inc[i] = x;
  }
#pragma omp simd reduction(inscan, + : y)
  for (int i = 0; i < 64; i++) {
    exc[i] = y;
#pragma omp scan exclusive(y)
    y += in[i];
  }
  int s = 0;
  for (int i = 0; i < 64; i++) { CHECK(exc[i] == s); s += in[i]; CHECK(inc[i] == s); }
  return DONE();
}
