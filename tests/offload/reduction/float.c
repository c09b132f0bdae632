// OpenMP 5.2, section 5.5: sums of float, double and integers of all sizes.
#include "../../check.h"
int main(void) {
  float f = 0;
  double d = 0;
  short s = 0;
  unsigned char c = 0;
  long long l = 0;
#pragma omp target teams distribute parallel for reduction(+ : f, d, s, c, l)
  for (int i = 0; i < 256; i++) f += i, d += i * 0.25, s += 1, c += 1, l += 1LL << 33;
  CHECK(f == 32640 && d == 8160 && s == 256 && c == 0 && l == 256LL << 33);
  return DONE();
}
